/*
 * What Java makes of the list of members in /zookeeper/config, and of an address without brackets:
 * ZooKeeper's own client and its QuorumMaj, and Curator's EnsembleTracker, which reads the list at
 * each connection and tells the UnhandledErrorListener what it cannot read.
 */
import java.io.ByteArrayInputStream;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;

public final class EnsembleMembers {
  private static final int TIMEOUT_MS = 30_000;

  public static void main(String[] arguments) throws Exception {
    for (String server : arguments) readWithZooKeeper(server);
    readWithCurator(arguments[0]);
    System.exit(0);
  }

  private static void readWithZooKeeper(String server) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client = new ZooKeeper(server, TIMEOUT_MS, event -> {
      if (event.getState() == KeeperState.SyncConnected) connected.countDown();
    });
    if (!connected.await(TIMEOUT_MS, TimeUnit.MILLISECONDS)) throw new Exception("no " + server);
    Properties properties = new Properties();
    properties.load(new ByteArrayInputStream(client.getConfig(false, null)));
    QuorumMaj members = new QuorumMaj(properties);
    for (QuorumServer member : members.getVotingMembers().values()) {
      System.out.println("member " + member.id + " " + member);
    }
    client.close();
  }

  private static void readWithCurator(String server) throws Exception {
    AtomicInteger unhandled = new AtomicInteger();
    CuratorFramework client = CuratorFrameworkFactory.builder()
        .connectString(server)
        .ensembleTracker(true)
        .retryPolicy(new RetryOneTime(100))
        .build();
    client.getUnhandledErrorListenable().addListener((message, error) -> {
      System.out.println("unhandled " + message + " " + error);
      unhandled.incrementAndGet();
    });
    client.start();
    if (!client.blockUntilConnected(TIMEOUT_MS, TimeUnit.MILLISECONDS)) throw new Exception("no");
    String asked = server;
    for (int tries = 0; asked.equals(server) && tries < 300 && unhandled.get() == 0; tries++) {
      Thread.sleep(100);
      asked = client.getZookeeperClient().getCurrentConnectionString();
    }
    System.out.println("curator " + asked);
    client.close();
  }
}
