/*
 * What the recipes' tests need: clients, threads, waiting with a deadline, failing
 * with a sentence, bytes and text.
 */
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.retry.ExponentialBackoffRetry;

class Checks {
  static final int WAIT_S = 45;
  static final int SESSION_TIMEOUT_MS = 10_000;
  static final ExecutorService THREADS = Executors.newCachedThreadPool(Checks::daemon);
  static final QueueSerializer<String> TEXT = new QueueSerializer<>() {
    @Override
    public byte[] serialize(String item) {
      return bytes(item);
    }

    @Override
    public String deserialize(byte[] item) {
      return text(item);
    }
  };

  static CuratorFramework connect(String server) {
    CuratorFramework client = CuratorFrameworkFactory.newClient(
        server, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS, new ExponentialBackoffRetry(100, 10));
    client.start();
    return client;
  }

  interface Work {
    void run() throws Exception;
  }

  static Future<Void> background(Work work) {
    return THREADS.submit(() -> {
      work.run();
      return null;
    });
  }

  static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  static void eventually(String what, Callable<Boolean> probe) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
    while (!probe.call()) {
      require(System.nanoTime() < end, "still waiting: " + what);
      Thread.sleep(20);
    }
  }

  static void require(boolean holds, String what) {
    if (!holds) throw new IllegalStateException("expected: " + what);
  }

  static void equal(Object expected, Object actual, String what) {
    require(expected.equals(actual), what + " is " + expected + ", not " + actual);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
