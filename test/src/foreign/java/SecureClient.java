import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * Connects by TLS and by SASL, writes ACLs of each identity, and reads what other clients write as
 * the same identity. Arguments: for each identity the connect string, the scheme and the id. The
 * properties test.keyStore and test.trustStore name files for TLS, test.others the other clients.
 */
public final class SecureClient {
    private static final byte[] DATA = "private".getBytes(StandardCharsets.UTF_8);
    private static final int POLL_MS = 50;
    private static final int DEADLINE_MS = 40000;

    public static void main(String[] args) throws Exception {
        for (int at = 0; at < args.length; at += 3) {
            ZooKeeper client = connect(args[at], args[at + 1]);
            writeOwn(client, args[at + 1], args[at + 2]);
            for (String other : System.getProperty("test.others").split(",")) {
                read(client, "/" + other + "-" + args[at + 1]);
            }
            client.close();
        }
        System.out.println("all is well");
    }

    private static ZooKeeper connect(String servers, String scheme) throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        if (scheme.equals("x509")) {
            config.setProperty("zookeeper.sasl.client", "false");
            config.setProperty("zookeeper.client.secure", "true");
            config.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
            config.setProperty("zookeeper.ssl.keyStore.location", System.getProperty("test.keyStore"));
            config.setProperty("zookeeper.ssl.trustStore.location", System.getProperty("test.trustStore"));
        }
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(servers, 10000, event -> {
            if (event.getState() == KeeperState.SyncConnected) connected.countDown();
        }, config);
        if (!connected.await(30, TimeUnit.SECONDS)) throw new IllegalStateException("no session");
        return client;
    }

    private static void writeOwn(ZooKeeper client, String scheme, String id) throws Exception {
        ACL own = new ACL(31, new Id(scheme, id));
        String path = "/java-" + scheme;
        client.create(path, DATA, Collections.singletonList(own), CreateMode.PERSISTENT);
        read(client, path);
        ACL auth = new ACL(31, new Id("auth", ""));
        client.create(path + "/auth", DATA, Collections.singletonList(auth), CreateMode.PERSISTENT);
        List<ACL> stored = client.getACL(path + "/auth", null);
        if (!stored.equals(Collections.singletonList(own))) throw new IllegalStateException(stored.toString());
        ACL other = new ACL(31, new Id(scheme, id + "x"));
        client.create(path + "/other", DATA, Collections.singletonList(other), CreateMode.PERSISTENT);
        try {
            client.getData(path + "/other", false, null);
            throw new IllegalStateException("the ACL of another identity was not honoured");
        } catch (KeeperException.NoAuthException expected) {
            return;
        }
    }

    private static void read(ZooKeeper client, String path) throws Exception {
        for (int waited = 0; client.exists(path, false) == null; waited += POLL_MS) {
            if (waited > DEADLINE_MS) throw new IllegalStateException("there is no " + path);
            Thread.sleep(POLL_MS);
        }
        String read = new String(client.getData(path, false, null), StandardCharsets.UTF_8);
        if (!read.equals("private")) throw new IllegalStateException(read);
    }
}
