"""Does with kazoo what a test in Node asks for, line by line; the protocol is in ../driver.ts.

Usage: mixed_driver.py HOST:PORT,... Each actor is a client with a session and one thread; it keeps
one object for each recipe and path. Operations that take a time limit (milliseconds) answer false
when it has passed; others wait for as long as it takes. Run by mixed-kazoo.test.ts.
"""
import os
import queue
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import ReadLock, WriteLock

SESSION_TIMEOUT_S = 10
LOCKS = {"lock": None, "read": ReadLock, "write": WriteLock}
answering = threading.Lock()


def answer(number, outcome, fields):
    with answering:
        sys.stdout.write("\t".join([number, outcome] + list(fields)) + "\n")
        sys.stdout.flush()


class Actor:
    """A client with a session, a thread, and the objects that it uses."""

    def __init__(self, hosts):
        self.client = KazooClient(hosts=hosts, timeout=SESSION_TIMEOUT_S)
        self.things = {}
        self.requests = queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        self.client.start()
        while True:
            number, name, arguments = self.requests.get()
            try:
                operation = OPERATIONS[name]
                answer(number, "ok", [text(field) for field in operation(self, *arguments)])
            except Exception as error:
                answer(number, "error", [" ".join(repr(error).split())])

    def thing(self, kind, path, make):
        """The one of this kind at this path; made when first asked for."""
        if (kind, path) not in self.things:
            self.things[(kind, path)] = make()
        return self.things[(kind, path)]

    def lock(self, kind, path, pattern):
        """`pattern` is what other contenders' names have before their number, or empty."""
        extra = [pattern] if pattern else []
        recipe = LOCKS[kind] or self.client.Lock
        bound = (self.client, path) if LOCKS[kind] else (path,)
        return self.thing(kind, path, lambda: recipe(*bound, extra_lock_patterns=extra))

    def counter(self, path, form):
        curator = form == "curator"
        default = 0.0 if form == "float" else 0
        make = lambda: self.client.Counter(path, default=default, support_curator=curator)
        return self.thing("counter", path, make)

    def queue(self, path):
        return self.thing("queue", path, lambda: self.client.LockingQueue(path))


def text(value):
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return str(value).lower() if isinstance(value, bool) else str(value)


def session(actor):
    identity, password = actor.client.client_id
    number = "%x" % (identity & 0xFFFFFFFFFFFFFFFF)
    return [number, password.hex(), SESSION_TIMEOUT_S * 1000]


def acquire(kind):
    def operation(actor, path, pattern="", limit_ms=None):
        timeout = None if limit_ms is None else int(limit_ms) / 1000
        try:
            return [actor.lock(kind, path, pattern).acquire(timeout=timeout)]
        except LockTimeout:
            return [False]

    return operation


def release(kind):
    def operation(actor, path):
        actor.lock(kind, path, "").release()
        return []

    return operation


def attempt(actor, path, pattern=""):
    return [actor.lock("lock", path, pattern).acquire(blocking=False)]


def contenders(actor, path, pattern=""):
    actor.client.sync(path)
    return actor.lock("lock", path, pattern).contenders()


def count(actor, path, pattern, counter, rounds):
    """Reads, adds and writes in three steps: right only when nobody else is in between."""
    for _ in range(int(rounds)):
        with actor.lock("lock", path, pattern):
            actor.client.sync(counter)
            value, _ = actor.client.get(counter)
            actor.client.set(counter, b"%d" % (int(value) + 1))
    return []


def add(actor, path, form, delta, times):
    counter = actor.counter(path, form)
    for _ in range(int(times)):
        counter += counter.default_type(delta)
    return [counter.pre_value, counter.post_value]


def value(actor, path, form):
    actor.client.sync(path)
    return [actor.counter(path, form).value]


def put(actor, path, priority, *values):
    for one in values:
        actor.queue(path).put(one.encode("utf-8"), int(priority))
    return []


def put_all(actor, path, priority, *values):
    actor.queue(path).put_all([one.encode("utf-8") for one in values], int(priority))
    return []


def take(actor, path, limit_ms=None):
    """Nothing when the time has passed."""
    found = actor.queue(path).get(None if limit_ms is None else int(limit_ms) / 1000)
    return [] if found is None else [found]


OPERATIONS = {
    "session": session,
    "lock.try": attempt,
    "lock.contenders": contenders,
    "count": count,
    "counter.add": add,
    "counter.value": value,
    "queue.put": put,
    "queue.putAll": put_all,
    "queue.get": take,
    "queue.consume": lambda actor, path: [actor.queue(path).consume()],
    "queue.release": lambda actor, path: [actor.queue(path).release()],
    "queue.holds": lambda actor, path: [actor.queue(path).holds_lock()],
}
for kind in LOCKS:
    OPERATIONS[kind + ".acquire"] = acquire(kind)
    OPERATIONS[kind + ".release"] = release(kind)


def main():
    actors = {}
    for line in sys.stdin:
        number, name, operation, *arguments = line.rstrip("\n").split("\t")
        if name not in actors:
            actors[name] = Actor(sys.argv[1])
        actors[name].requests.put((number, operation, arguments))
    os._exit(0)


main()
