import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import javax.security.auth.x500.X500Principal;

/** For each line, a name as DER in hex: its text as ZooKeeper takes it for an identity, in hex. */
public final class PrincipalNames {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        HexFormat hex = HexFormat.of();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String name = new X500Principal(hex.parseHex(line)).getName();
            out.println(hex.formatHex(name.getBytes(StandardCharsets.UTF_8)));
        }
    }
}
