/*
 * Does with Curator what a test in Node asks for, line by line; the protocol is in ../driver.ts.
 *
 * Usage: MixedDriver CONNECT_STRING. Each actor is a client with a session and one thread, for
 * Curator's locks belong to threads; it keeps one object for each recipe and path. Operations that
 * take a time limit (milliseconds) answer false when it has passed; others wait for as long as it
 * takes. Values that are read are read after a sync. Run by mixed-curator.test.ts.
 */
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.ZooKeeper;

public final class MixedDriver extends Checks {
  private interface Operation {
    /** What the answer carries. */
    Object run(Actor actor, String path, String[] more) throws Exception;
  }

  private static final Map<String, Operation> OPERATIONS = new HashMap<>();

  static {
    addBasics();
    addLocks();
    addSemaphores();
    addLatch();
    addBarrier();
    addNumbers();
    addQueue();
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Actor> actors = new HashMap<>();
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] fields = line.split("\t", -1);
      actors.computeIfAbsent(fields[1], name -> new Actor(arguments[0])).take(fields);
    }
    System.exit(0);
  }

  private static synchronized void answer(String id, String outcome, String fields) {
    System.out.println(id + "\t" + outcome + "\t" + fields);
    System.out.flush();
  }

  /** A client with a session, a thread, and the objects that it uses. */
  private static final class Actor {
    final CuratorFramework client;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(Checks::daemon);
    private final Map<String, Object> things = new HashMap<>();

    Actor(String connectString) {
      client = connect(connectString);
    }

    void take(String[] fields) {
      thread.execute(() -> {
        try {
          Operation operation = OPERATIONS.get(fields[2]);
          require(operation != null, "an operation, not " + fields[2]);
          String path = fields.length > 3 ? fields[3] : "";
          String[] more = fields.length > 4 ? Arrays.copyOfRange(fields, 4, fields.length)
              : new String[0];
          Object result = operation.run(this, path, more);
          answer(fields[0], "ok", String.valueOf(result));
        } catch (Throwable error) {
          answer(fields[0], "error", String.valueOf(error).replaceAll("\\s+", " "));
        }
      });
    }

    /** The one of this kind at this path; made when first asked for. */
    <T> T thing(Class<T> type, String path, Function<String, T> make) {
      String key = type.getName() + path;
      // Not by computeIfAbsent: making one thing may make another.
      if (!things.containsKey(key)) things.put(key, make.apply(path));
      return type.cast(things.get(key));
    }

    @SuppressWarnings("unchecked")
    List<Lease> leases(String path) {
      return thing(ArrayList.class, path, key -> new ArrayList<Lease>());
    }

    InterProcessMutex mutex(String path) {
      return thing(InterProcessMutex.class, path, at -> new InterProcessMutex(client, at));
    }

    InterProcessReadWriteLock readWriteLock(String path) {
      return thing(InterProcessReadWriteLock.class, path,
          at -> new InterProcessReadWriteLock(client, at));
    }

    LeaderLatch latch(String path) {
      return thing(LeaderLatch.class, path, at -> {
        throw new IllegalStateException("no latch is started at " + at);
      });
    }

    /** Promoted to a lock beside it after two tries. */
    DistributedAtomicLong number(String path) {
      PromotedToLock promotion = PromotedToLock.builder().lockPath(path + "-lock")
          .retryPolicy(new RetryNTimes(200, 5)).timeout(WAIT_S, SECONDS).build();
      return thing(DistributedAtomicLong.class, path,
          at -> new DistributedAtomicLong(client, at, new RetryNTimes(1, 1), promotion));
    }

    QueueEnd queue(String path) {
      return thing(QueueEnd.class, path, at -> new QueueEnd(client, at));
    }

    void sync(String path) throws Exception {
      client.sync().forPath(path);
    }
  }

  private static void addBasics() {
    OPERATIONS.put("session", (actor, path, more) -> {
      actor.client.blockUntilConnected();
      ZooKeeper session = actor.client.getZookeeperClient().getZooKeeper();
      return Long.toUnsignedString(session.getSessionId(), 16) + "\t"
          + hex(session.getSessionPasswd()) + "\t" + session.getSessionTimeout();
    });
    // Reads, adds and writes in three steps: right only when nobody else is in between.
    OPERATIONS.put("count", (actor, path, more) -> {
      for (int i = 0; i < Integer.parseInt(more[1]); i++) {
        actor.mutex(path).acquire();
        actor.sync(more[0]);
        int count = Integer.parseInt(text(actor.client.getData().forPath(more[0])));
        actor.client.setData().forPath(more[0], bytes(String.valueOf(count + 1)));
        actor.mutex(path).release();
      }
      return "";
    });
  }

  private static void addLocks() {
    addLock("lock", Actor::mutex);
    addLock("read", (actor, path) -> actor.readWriteLock(path).readLock());
    addLock("write", (actor, path) -> actor.readWriteLock(path).writeLock());
  }

  private interface MutexAt {
    InterProcessMutex of(Actor actor, String path);
  }

  private static void addLock(String name, MutexAt lock) {
    OPERATIONS.put(name + ".acquire", (actor, path, more) -> {
      if (more.length > 0) {
        return lock.of(actor, path).acquire(Long.parseLong(more[0]), MILLISECONDS);
      }
      lock.of(actor, path).acquire();
      return true;
    });
    OPERATIONS.put(name + ".release", (actor, path, more) -> {
      lock.of(actor, path).release();
      return "";
    });
    OPERATIONS.put(name + ".participants", (actor, path, more) -> {
      actor.sync(path);
      return String.join("\t", lock.of(actor, path).getParticipantNodes());
    });
  }

  /** Who releases gives all the leases back that the actor has. */
  private static void addSemaphores() {
    OPERATIONS.put("semaphore.acquire", (actor, path, more) -> acquire(
        actor, path, semaphore(actor, path, more[0]), Integer.parseInt(more[1]), more));
    OPERATIONS.put("semaphore.release", (actor, path, more) -> {
      for (Lease lease : actor.leases(path)) lease.close();
      actor.leases(path).clear();
      return "";
    });
    OPERATIONS.put("count.set", (actor, path, more) -> {
      count(actor, path).setCount(Integer.parseInt(more[0]));
      return "";
    });
    OPERATIONS.put("count.get", (actor, path, more) -> {
      actor.sync(path);
      return hex(actor.client.getData().forPath(path));
    });
  }

  /** The maximum is a number or the path of a shared count. */
  private static InterProcessSemaphoreV2 semaphore(Actor actor, String path, String maximum) {
    return actor.thing(InterProcessSemaphoreV2.class, path, at -> {
      if (!maximum.startsWith("/")) {
        return new InterProcessSemaphoreV2(actor.client, at, Integer.parseInt(maximum));
      }
      return new InterProcessSemaphoreV2(actor.client, at, count(actor, maximum));
    });
  }

  private static boolean acquire(Actor actor, String path, InterProcessSemaphoreV2 semaphore,
      int count, String[] more) throws Exception {
    Collection<Lease> leases = more.length > 2
        ? semaphore.acquire(count, Long.parseLong(more[2]), MILLISECONDS)
        : semaphore.acquire(count);
    if (leases == null) return false;
    actor.leases(path).addAll(leases);
    return true;
  }

  private static SharedCount count(Actor actor, String path) {
    return actor.thing(SharedCount.class, path, at -> {
      SharedCount count = new SharedCount(actor.client, at, 0);
      try {
        count.start();
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
      return count;
    });
  }

  private static void addLatch() {
    OPERATIONS.put("latch.start", (actor, path, more) -> {
      actor.thing(LeaderLatch.class, path, at -> new LeaderLatch(actor.client, at, more[0])).start();
      return "";
    });
    OPERATIONS.put("latch.await", (actor, path, more) -> {
      actor.latch(path).await();
      return "";
    });
    OPERATIONS.put("latch.has", (actor, path, more) -> actor.latch(path).hasLeadership());
    OPERATIONS.put("latch.leader", (actor, path, more) -> {
      actor.sync(path);
      return actor.latch(path).getLeader().getId();
    });
    OPERATIONS.put("latch.participants", (actor, path, more) -> {
      actor.sync(path);
      return actor.latch(path).getParticipants().stream()
          .map(Participant::getId).collect(Collectors.joining("\t"));
    });
    OPERATIONS.put("latch.close", (actor, path, more) -> {
      actor.latch(path).close();
      return "";
    });
  }

  private static void addBarrier() {
    OPERATIONS.put("barrier.enter", (actor, path, more) -> {
      int memberCount = Integer.parseInt(more[0]);
      DistributedDoubleBarrier barrier =
          new DistributedDoubleBarrier(actor.client, path, memberCount);
      actor.things.put("barrier " + path, barrier);
      barrier.enter();
      return "";
    });
    OPERATIONS.put("barrier.leave", (actor, path, more) -> {
      ((DistributedDoubleBarrier) actor.things.get("barrier " + path)).leave();
      return "";
    });
  }

  private static void addNumbers() {
    OPERATIONS.put("long.get", (actor, path, more) -> {
      actor.sync(path);
      return actor.number(path).get().postValue();
    });
    OPERATIONS.put("long.add", (actor, path, more) -> {
      String last = "";
      for (int i = 0; i < Integer.parseInt(more[1]); i++) {
        AtomicValue<Long> sum = actor.number(path).add(Long.valueOf(more[0]));
        require(sum.succeeded(), "an addition");
        last = sum.preValue() + "\t" + sum.postValue();
      }
      return last;
    });
    OPERATIONS.put("long.trySet", (actor, path, more) -> {
      AtomicValue<Long> outcome = actor.number(path).trySet(Long.valueOf(more[0]));
      return outcome.succeeded() + "\t" + outcome.preValue() + "\t" + outcome.postValue();
    });
    OPERATIONS.put("long.compareAndSet", (actor, path, more) -> {
      AtomicValue<Long> outcome =
          actor.number(path).compareAndSet(Long.valueOf(more[0]), Long.valueOf(more[1]));
      return outcome.succeeded();
    });
    OPERATIONS.put("long.initialize", (actor, path, more) ->
        actor.number(path).initialize(Long.valueOf(more[0])));
  }

  /**
   * Puts at once; keeps what it has been given until it is asked for. One that holds is busy with
   * the first for ever.
   */
  private static final class QueueEnd implements QueueConsumer<String> {
    private final CuratorFramework client;
    private final String path;
    private final BlockingQueue<String> consumed = new LinkedBlockingQueue<>();
    private boolean holding;
    private DistributedQueue<String> queue;

    QueueEnd(CuratorFramework client, String path) {
      this.client = client;
      this.path = path;
    }

    /** With a lock path an item stays in the queue until it is consumed. */
    void open(String role, String lockPath) throws Exception {
      QueueConsumer<String> consumer = role.equals("produce") ? null : this;
      holding = role.equals("hold");
      QueueBuilder<String> builder = QueueBuilder.builder(client, consumer, TEXT, path);
      if (!lockPath.isEmpty()) builder.lockPath(lockPath);
      queue = builder.buildQueue();
      queue.start();
    }

    @Override
    public void consumeMessage(String message) throws Exception {
      consumed.add(message);
      if (holding) new CountDownLatch(1).await();
    }

    @Override
    public void stateChanged(CuratorFramework ignored, ConnectionState state) {}
  }

  private static void addQueue() {
    OPERATIONS.put("queue.open", (actor, path, more) -> {
      actor.queue(path).open(more[0], more.length > 1 ? more[1] : "");
      return "";
    });
    OPERATIONS.put("queue.put", (actor, path, more) -> {
      for (String item : more) actor.queue(path).queue.put(item);
      return actor.queue(path).queue.flushPuts(WAIT_S, SECONDS);
    });
    OPERATIONS.put("queue.putMulti", (actor, path, more) -> {
      List<String> items = new ArrayList<>(Arrays.asList(more));
      MultiItem<String> multi = () -> items.isEmpty() ? null : items.remove(0);
      actor.queue(path).queue.putMulti(multi);
      return actor.queue(path).queue.flushPuts(WAIT_S, SECONDS);
    });
    OPERATIONS.put("queue.next", (actor, path, more) -> actor.queue(path).consumed.take());
    // All that it has been given since it was asked.
    OPERATIONS.put("queue.given", (actor, path, more) -> {
      List<String> given = new ArrayList<>();
      actor.queue(path).consumed.drainTo(given);
      return String.join("\t", given);
    });
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte one : bytes) text.append(String.format("%02x", one));
    return text.toString();
  }
}
