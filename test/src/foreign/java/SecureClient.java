import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** Connects by TLS or SASL as the properties say, and uses ACLs of the identity that is given. */
public final class SecureClient {
    public static void main(String[] args) throws Exception {
        String scheme = args[1];
        String id = args[2];
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(args[0], 10000, event -> {
            if (event.getState() == KeeperState.SyncConnected) connected.countDown();
        });
        if (!connected.await(30, TimeUnit.SECONDS)) throw new IllegalStateException("no session");
        ACL own = new ACL(31, new Id(scheme, id));
        byte[] data = "private".getBytes(StandardCharsets.UTF_8);
        String path = "/java-" + scheme;
        client.create(path, data, Collections.singletonList(own), CreateMode.PERSISTENT);
        String read = new String(client.getData(path, false, null), StandardCharsets.UTF_8);
        if (!read.equals("private")) throw new IllegalStateException(read);
        ACL auth = new ACL(31, new Id("auth", ""));
        client.create(path + "/auth", data, Collections.singletonList(auth), CreateMode.PERSISTENT);
        List<ACL> stored = client.getACL(path + "/auth", null);
        if (!stored.equals(Collections.singletonList(own))) throw new IllegalStateException(stored.toString());
        ACL other = new ACL(31, new Id(scheme, id + "x"));
        client.create(path + "/other", data, Collections.singletonList(other), CreateMode.PERSISTENT);
        try {
            client.getData(path + "/other", false, null);
            throw new IllegalStateException("the ACL of another identity was not honoured");
        } catch (KeeperException.NoAuthException expected) {
            client.close();
        }
        System.out.println("all is well");
    }
}
