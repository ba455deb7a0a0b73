/*
 * Exercises the recipes of Apache Curator, each between two clients at different members.
 *
 * Usage: CuratorRecipes HOST:PORT HOST:PORT. Prints a line per recipe, `NAME: ok`, or
 * `NAME: FAILED` with the reason, and exits 1 when one failed. Every recipe has its own subtree and
 * a deadline; one that fails does not stop the others. Compiled and run by curator.test.ts.
 */
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

public final class CuratorRecipes extends Checks {
  private static final int RECIPE_DEADLINE_S = 120;
  /** Long enough to mean "not given"; what is awaited here must not come at all. */
  private static final int REFUSED_MS = 300;

  private interface Recipe {
    void run(String path) throws Exception;
  }

  private final CuratorFramework a;
  private final CuratorFramework b;
  private boolean failed;

  private CuratorRecipes(String first, String second) {
    a = connect(first);
    b = connect(second);
  }

  public static void main(String[] arguments) {
    CuratorRecipes recipes = new CuratorRecipes(arguments[0], arguments[1]);
    recipes.runAll();
    System.exit(recipes.failed ? 1 : 0);
  }

  private void runAll() {
    run("InterProcessMutex", this::mutex);
    run("InterProcessReadWriteLock", this::readWriteLock);
    run("InterProcessSemaphoreV2", this::semaphore);
    run("LeaderLatch", this::leaderLatch);
    run("LeaderSelector", this::leaderSelector);
    run("DistributedBarrier", this::barrier);
    run("DistributedDoubleBarrier", this::doubleBarrier);
    run("SharedCount", this::sharedCount);
    run("DistributedAtomicLong", this::atomicLong);
    run("CuratorCache", this::cache);
    run("PersistentNode", this::persistentNode);
    run("GroupMember", this::groupMember);
    run("DistributedQueue", this::queue);
    a.close();
    b.close();
  }

  private void run(String name, Recipe recipe) {
    Future<Void> outcome = background(() -> recipe.run("/recipes/" + name));
    try {
      outcome.get(RECIPE_DEADLINE_S, SECONDS);
      System.out.println(name + ": ok");
    } catch (Exception error) {
      failed = true;
      Throwable reason = error.getCause() == null ? error : error.getCause();
      System.out.println(name + ": FAILED " + reason);
      reason.printStackTrace();
    }
  }

  private void mutex(String path) throws Exception {
    InterProcessMutex atA = new InterProcessMutex(a, path + "/lock");
    InterProcessMutex atB = new InterProcessMutex(b, path + "/lock");
    atA.acquire();
    require(atA.acquire(WAIT_S, SECONDS), "the holder acquires again");
    require(!atB.acquire(REFUSED_MS, MILLISECONDS), "nobody else acquires");
    require(atB.getParticipantNodes().size() == 1, "the one that gave up left the queue");
    atA.release();
    require(!atB.acquire(REFUSED_MS, MILLISECONDS), "released once of twice");
    atA.release();
    require(atB.acquire(WAIT_S, SECONDS), "free for the other");
    atB.release();

    String counter = path + "/counter";
    a.create().creatingParentsIfNeeded().forPath(counter, bytes("0"));
    Future<Void> first = background(() -> countUnder(atA, a, counter));
    Future<Void> second = background(() -> countUnder(atB, b, counter));
    first.get(WAIT_S, SECONDS);
    second.get(WAIT_S, SECONDS);
    equal("40", text(a.getData().forPath(counter)), "no count was lost under the lock");
  }

  /** Reads, adds and writes in three steps: right only when nobody else is in between. */
  private static void countUnder(InterProcessMutex lock, CuratorFramework client, String counter)
      throws Exception {
    for (int i = 0; i < 20; i++) {
      lock.acquire();
      client.sync().forPath(counter);
      int count = Integer.parseInt(text(client.getData().forPath(counter)));
      client.setData().forPath(counter, bytes(String.valueOf(count + 1)));
      lock.release();
    }
  }

  private void readWriteLock(String path) throws Exception {
    InterProcessReadWriteLock atA = new InterProcessReadWriteLock(a, path);
    InterProcessReadWriteLock atB = new InterProcessReadWriteLock(b, path);
    atA.readLock().acquire();
    require(atB.readLock().acquire(WAIT_S, SECONDS), "two readers at a time");
    atB.readLock().release();
    require(!atB.writeLock().acquire(REFUSED_MS, MILLISECONDS), "a reader keeps writers out");
    atA.readLock().release();
    require(atB.writeLock().acquire(WAIT_S, SECONDS), "the last reader left");
    require(!atA.readLock().acquire(REFUSED_MS, MILLISECONDS), "a writer keeps readers out");
    require(atB.readLock().acquire(WAIT_S, SECONDS), "the writer may read too");
    atB.writeLock().release();
    require(atA.readLock().acquire(WAIT_S, SECONDS), "the writer became a reader");
    atA.readLock().release();
    atB.readLock().release();
  }

  private void semaphore(String path) throws Exception {
    InterProcessSemaphoreV2 atA = new InterProcessSemaphoreV2(a, path, 2);
    InterProcessSemaphoreV2 atB = new InterProcessSemaphoreV2(b, path, 2);
    atA.setNodeData(bytes("from a"));
    Lease first = atA.acquire();
    Lease second = atB.acquire(WAIT_S, SECONDS);
    require(second != null, "two leases for two");
    equal("from a", text(first.getData()), "a lease carries its data");
    require(atB.acquire(REFUSED_MS, MILLISECONDS) == null, "there is no third");
    a.sync().forPath(path);
    equal(2, atA.getParticipantNodes().size(), "leases taken");
    atA.returnLease(first);
    Lease third = atB.acquire(WAIT_S, SECONDS);
    require(third != null, "a returned lease is given again");
    atB.returnAll(List.of(second, third));
    a.sync().forPath(path);
    equal(0, atA.getParticipantNodes().size(), "leases left");
  }

  private void leaderLatch(String path) throws Exception {
    LeaderLatch atA = new LeaderLatch(a, path, "a");
    LeaderLatch atB = new LeaderLatch(b, path, "b");
    atA.start();
    require(atA.await(WAIT_S, SECONDS), "the first one leads");
    atB.start();
    eventually("both take part", () -> atA.getParticipants().size() == 2);
    require(!atB.await(REFUSED_MS, MILLISECONDS), "the second one does not lead");
    b.sync().forPath(path);
    equal("a", atB.getLeader().getId(), "the leader that b sees");
    atA.close();
    require(atB.await(WAIT_S, SECONDS), "the second one follows it");
    equal("b", atB.getLeader().getId(), "the leader afterwards");
    atB.close();
  }

  private void leaderSelector(String path) throws Exception {
    AtomicInteger leading = new AtomicInteger();
    List<String> terms = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch enough = new CountDownLatch(6);
    List<LeaderSelector> selectors = new ArrayList<>();
    for (CuratorFramework client : List.of(a, b)) {
      String id = client == a ? "a" : "b";
      LeaderSelectorListenerAdapter listener = new LeaderSelectorListenerAdapter() {
        @Override
        public void takeLeadership(CuratorFramework ignored) {
          terms.add(leading.incrementAndGet() == 1 ? id : "two at a time");
          leading.decrementAndGet();
          enough.countDown();
        }
      };
      LeaderSelector selector = new LeaderSelector(client, path, listener);
      selector.setId(id);
      selector.autoRequeue();
      selector.start();
      selectors.add(selector);
    }
    require(enough.await(WAIT_S, SECONDS), "leadership goes round");
    selectors.forEach(LeaderSelector::close);
    equal(Set.of("a", "b"), Set.copyOf(terms), "who led");
  }

  private void barrier(String path) throws Exception {
    DistributedBarrier atA = new DistributedBarrier(a, path);
    DistributedBarrier atB = new DistributedBarrier(b, path);
    require(atB.waitOnBarrier(WAIT_S, SECONDS), "no barrier, no wait");
    atA.setBarrier();
    b.sync().forPath(path);
    require(!atB.waitOnBarrier(REFUSED_MS, MILLISECONDS), "the barrier holds");
    Future<Boolean> waiting = THREADS.submit(() -> atB.waitOnBarrier(WAIT_S, SECONDS));
    atA.removeBarrier();
    require(waiting.get(WAIT_S, SECONDS), "its removal wakes who waits");
  }

  private void doubleBarrier(String path) throws Exception {
    AtomicInteger entered = new AtomicInteger();
    AtomicInteger left = new AtomicInteger();
    List<Future<Void>> members = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(i == 1 ? b : a, path, 3);
      members.add(background(() -> {
        entered.incrementAndGet();
        require(barrier.enter(WAIT_S, SECONDS), "entered in time");
        equal(3, entered.get(), "nobody passes before all have come");
        left.incrementAndGet();
        require(barrier.leave(WAIT_S, SECONDS), "left in time");
        equal(3, left.get(), "nobody is gone before all leave");
      }));
    }
    for (Future<Void> member : members) member.get(2 * WAIT_S, SECONDS);
  }

  private void sharedCount(String path) throws Exception {
    SharedCount atA = new SharedCount(a, path, 7);
    SharedCount atB = new SharedCount(b, path, 7);
    atA.start();
    b.sync().forPath(path);
    atB.start();
    equal(7, atB.getCount(), "the seed");
    List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
    atB.addListener(new SharedCountListener() {
      @Override
      public void countHasChanged(SharedCountReader count, int value) {
        seen.add(value);
      }

      @Override
      public void stateChanged(CuratorFramework client, ConnectionState state) {}
    });
    VersionedValue<Integer> old = atA.getVersionedValue();
    atA.setCount(8);
    eventually("b hears of the change", () -> seen.contains(8));
    require(!atA.trySetCount(old, 9), "a stale version changes nothing");
    require(atB.trySetCount(atB.getVersionedValue(), 10), "a fresh one does");
    eventually("a hears of it", () -> atA.getCount() == 10);
    atA.close();
    atB.close();
  }

  private void atomicLong(String path) throws Exception {
    List<Future<Void>> adders = new ArrayList<>();
    for (CuratorFramework client : List.of(a, b)) {
      RetryNTimes retry = new RetryNTimes(100, 5);
      DistributedAtomicLong number = new DistributedAtomicLong(client, path, retry);
      adders.add(background(() -> {
        for (int i = 0; i < 25; i++) require(number.increment().succeeded(), "an increment");
      }));
    }
    for (Future<Void> adder : adders) adder.get(WAIT_S, SECONDS);
    DistributedAtomicLong number = new DistributedAtomicLong(a, path, new RetryNTimes(100, 5));
    a.sync().forPath(path);
    equal(50L, number.get().postValue(), "no increment was lost");
    require(!number.compareAndSet(49L, 1L).succeeded(), "a wrong guess changes nothing");
    AtomicValue<Long> sum = number.add(-8L);
    equal(50L, sum.preValue(), "before");
    equal(42L, sum.postValue(), "after");
  }

  private void cache(String path) throws Exception {
    a.create().creatingParentsIfNeeded().forPath(path + "/before", bytes("1"));
    b.sync().forPath(path);
    CountDownLatch initialized = new CountDownLatch(1);
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    CuratorCache cache = CuratorCache.build(b, path);
    cache.listenable().addListener(CuratorCacheListener.builder()
        .forInitialized(initialized::countDown)
        .forCreates(node -> seen.add("created " + node.getPath()))
        .forChanges((old, node) -> {
          seen.add("changed " + text(old.getData()) + text(node.getData()));
        })
        .forDeletes(node -> seen.add("deleted " + node.getPath()))
        .build());
    cache.start();
    require(initialized.await(WAIT_S, SECONDS), "the cache is filled");
    equal(Set.of("created " + path, "created " + path + "/before"), Set.copyOf(seen), "first fill");
    seen.clear();
    String deep = path + "/deep/er";
    a.create().creatingParentsIfNeeded().forPath(deep, bytes("2"));
    eventually("the new ones are seen", () -> seen.size() == 2);
    a.setData().forPath(deep, bytes("3"));
    eventually("the change is seen", () -> seen.size() == 3);
    equal("3", text(cache.get(deep).orElseThrow().getData()), "the data in the cache");
    a.delete().deletingChildrenIfNeeded().forPath(path + "/deep");
    eventually("the deletions are seen", () -> seen.size() == 5);
    equal(List.of("created " + path + "/deep", "created " + deep, "changed 23", "deleted " + deep,
        "deleted " + path + "/deep"), List.copyOf(seen), "the changes in their order");
    cache.close();
  }

  private void persistentNode(String path) throws Exception {
    PersistentNode node = new PersistentNode(a, CreateMode.EPHEMERAL, false, path, bytes("here"));
    node.start();
    require(node.waitForInitialCreate(WAIT_S, SECONDS), "it is created");
    b.sync().forPath(path);
    equal("here", text(b.getData().forPath(path)), "its data");
    long first = b.checkExists().forPath(path).getCzxid();
    b.delete().forPath(path);
    eventually("it comes back after a deletion", () -> createdAfter(path, first));
    long second = b.checkExists().forPath(path).getCzxid();
    endSession(a.getZookeeperClient().getZooKeeper());
    eventually("it comes back with a new session", () -> createdAfter(path, second));
    node.close();
    eventually("it goes with its close", () -> b.checkExists().forPath(path) == null);
  }

  /** Takes the session over and closes it: its owner learns that it has expired. */
  private void endSession(ZooKeeper owner) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper thief = new ZooKeeper(
        b.getZookeeperClient().getCurrentConnectionString(), SESSION_TIMEOUT_MS,
        event -> connected.countDown(), owner.getSessionId(), owner.getSessionPasswd());
    require(connected.await(WAIT_S, SECONDS), "the session moves");
    thief.close();
  }

  private boolean createdAfter(String path, long zxid) throws Exception {
    Stat stat = b.checkExists().forPath(path);
    return stat != null && stat.getCzxid() > zxid;
  }

  private void groupMember(String path) throws Exception {
    GroupMember atA = new GroupMember(a, path, "a", bytes("data of a"));
    GroupMember atB = new GroupMember(b, path, "b", bytes("data of b"));
    atA.start();
    atB.start();
    eventually("each sees both", () -> {
      return group(atA).equals("a=data of a b=data of b") && group(atA).equals(group(atB));
    });
    atB.close();
    eventually("the one that left is gone", () -> group(atA).equals("a=data of a"));
    atA.close();
  }

  private static String group(GroupMember member) {
    return member.getCurrentMembers().entrySet().stream()
        .map(entry -> entry.getKey() + "=" + text(entry.getValue()))
        .sorted()
        .collect(Collectors.joining(" "));
  }

  private void queue(String path) throws Exception {
    List<String> taken = Collections.synchronizedList(new ArrayList<>());
    QueueConsumer<String> consumer = new QueueConsumer<>() {
      @Override
      public void consumeMessage(String message) {
        taken.add(message);
      }

      @Override
      public void stateChanged(CuratorFramework client, ConnectionState state) {}
    };
    String items = path + "/items";
    String locks = path + "/locks";
    DistributedQueue<String> put =
        QueueBuilder.<String>builder(a, null, TEXT, items).lockPath(locks).buildQueue();
    DistributedQueue<String> take =
        QueueBuilder.builder(b, consumer, TEXT, items).lockPath(locks).buildQueue();
    put.start();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) expected.add("item " + i);
    for (String item : expected) put.put(item);
    require(put.flushPuts(WAIT_S, SECONDS), "all are in the queue");
    take.start();
    eventually("all are taken", () -> taken.size() == expected.size());
    equal(expected, List.copyOf(taken), "each once and in order");
    put.close();
    take.close();
  }
}
