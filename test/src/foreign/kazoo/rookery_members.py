"""A pytest plugin that runs kazoo's own tests against members of Rookery.

Owns what stands between kazoo's harness and the servers: where kazoo would launch Java, a member of
the command line is started instead, configured by the values that kazoo would have put into zoo.cfg,
the Java properties and the JAAS file. ROOKERY_E2E_PRODUCT=apache keeps kazoo's own launcher. Either
way the servers of a new ensemble serve before a client looks for them. The tests named in EXCLUDED
are dropped, each of which must exist; everything else runs as it is. KAZOO_SHARD=1/2 selects the
first of two parts. If KAZOO_TLS holds the files of certificates, members speak TLS, and every client
of a class that PLAIN does not name connects by TLS. Loaded by kazoo-suite.test.ts with
`-p rookery_members`.
"""
import functools
import json
import os
import re
import shutil
import socket
import subprocess
import time

import pytest
from kazoo.client import KazooClient
from kazoo.testing import common, harness

PRODUCT = os.environ.get("ROOKERY_E2E_PRODUCT", "rookery")
TLS = json.loads(os.environ.get("KAZOO_TLS", "null"))
POLL_S = 0.05
# Against a hang: a starved machine takes tens of seconds to start three servers.
SERVING_DEADLINE_S = 120
SUPER_DIGEST = "-Dzookeeper.DigestAuthenticationProvider.superDigest="

# By module, class and test.
EXCLUDED = {
    "test_sasl.TestSASLGSSAPIAuthentication": "Kerberos",
    "test_client.TestReconfig": "reconfiguration",
}

# Kazoo 2.8 gives the sockets of gevent and eventlet to Python's own TLS, which cannot use them.
PLAIN = ("TestGevent", "TestEventlet")
# Its two clients would be one identity by their certificate.
WITHOUT_CERTIFICATE = "test_create_makepath_incompatible_acls"
uses_tls = False
has_no_certificate = False
classes_by_tls = set()

# A member without quorum takes over only sessions that are its own, so this class needs them. (It
# fails against ZooKeeper 3.8.0 as well without.)
LOCAL_SESSIONS = {"TestReadOnlyMode"}
local_sessions = False

# The classes that take longest, most of it waiting, longest first: dealt out before the others.
SLOW = [
    "TestReadOnlyMode",
    "KazooPartitionerTests",
    "KazooChildrenWatcherTests",
    "TestClient",
    "TestEventletClient",
    "TestGeventClient",
    "KazooLockTests",
    "TestEventletLock",
    "KazooTreeCacheTests",
    "TestEventletSemaphore",
    "TestConnection",
    "TestSemaphore",
]


class Server(common.ManagedZooKeeper):
    """Kazoo's own server, which serves when `run` returns: tests of kazoo give it only 5 s then."""

    def run(self):
        self.launch()
        self.wait_until_it_serves()

    def launch(self):
        super().run()

    def wait_until_it_serves(self):
        deadline = time.monotonic() + SERVING_DEADLINE_S
        while not self.serves():
            code = self.process.poll()
            assert code is None, "%s has ended by itself: %s" % (self.address, code)
            assert time.monotonic() < deadline, "%s does not serve" % self.address
            time.sleep(POLL_S)

    def serves(self):
        """A server names its mode once it serves clients."""
        address = (self.host, self.client_port)
        try:
            with socket.create_connection(address, timeout=5) as connection:
                connection.sendall(b"srvr")
                answer = b"".join(iter(lambda: connection.recv(4096), b""))
        except OSError:
            return False
        return re.search(rb"^Mode: (leader|follower)", answer, re.MULTILINE) is not None


class Member(Server):
    """One member of Rookery with the life of kazoo's server: its stop and destroy serve as is."""

    def launch(self):
        if self.running:
            return
        os.makedirs(self.working_path, exist_ok=True)
        config_path = os.path.join(self.working_path, "ensemble.json")
        with open(config_path, "w") as config:
            json.dump(self._config(), config, indent=2)
        # All incarnations of a member log to one file, which outlives its working directory.
        log_name = "member-%d.log" % self.server_info.client_port
        log_path = os.path.join(os.path.dirname(self.working_path), log_name)
        with open(log_path, "a") as log:
            self.process = subprocess.Popen(
                [
                    os.environ["ROOKERY_NODE"],
                    os.environ["ROOKERY_MAIN"],
                    "server",
                    "--config",
                    config_path,
                    "--id",
                    str(self.server_info.server_id),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._running = True

    def reset(self):
        """Stops the member and takes its disk away."""
        self.stop()
        shutil.rmtree(os.path.join(self.working_path, "data"), ignore_errors=True)

    def _config(self):
        servers = sorted([self.server_info] + list(self.peers))
        return {
            "dataDir": os.path.join(self.working_path, "data"),
            "tickTimeMs": 2000,
            "initLimit": 4,
            "syncLimit": 2,
            "readOnlyMode": True,
            "localSessions": local_sessions,
            "superDigest": self._super_digest(),
            **self._security(),
            "servers": [
                {
                    "id": server.server_id,
                    "host": self.host,
                    "clientPort": server.client_port,
                    "peerPort": server.leader_port,
                }
                for server in servers
            ],
        }

    def _security(self):
        """The members' certificate, and the users of the JAAS file that kazoo would have written."""
        settings = {}
        if TLS is not None:
            settings["tls"] = dict(TLS["member"], clientAuth="want")
        users = re.findall(r'user_(\w+)="([^"]*)"', self.jaas_config or "")
        if users:
            users_path = os.path.join(self.working_path, "users")
            descriptor = os.open(users_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.writelines("%s:%s\n" % user for user in users)
            settings["sasl"] = {"usersFile": users_path}
        return settings

    def _super_digest(self):
        for entry in self.java_system_properties:
            if entry.startswith(SUPER_DIGEST):
                return entry[len(SUPER_DIGEST):]
        return None


class ApacheServer(Server):
    """Kazoo's own, with the settings of the class that runs."""

    def launch(self):
        if local_sessions:
            self.configuration_entries = list(self.configuration_entries) + [
                "localSessionsEnabled=true",
                "localSessionsUpgradingEnabled=true",
            ]
        super().launch()


def start_cluster(cluster):
    """Starts the servers in kazoo's order, and returns when each serves.

    Kazoo waits two seconds instead. Its clients look again after 0.1 s, 0.2 s and so on, doubled
    each time and changed by up to 40 %, so one that has found no server for six seconds may not
    look again before its limit of 15 s.
    """
    for server in reversed(list(cluster)):
        server.launch()
    for server in cluster:
        server.wait_until_it_serves()


def pytest_configure(config):
    common.ManagedZooKeeper = ApacheServer if PRODUCT == "apache" else Member
    common.ZookeeperCluster.start = start_cluster
    if TLS is not None:
        KazooClient.__init__ = by_tls(KazooClient.__init__)


def by_tls(initialize):
    """A client's constructor whose options are those of TLS where the test says nothing else."""

    @functools.wraps(initialize)
    def wrapped(self, *args, **options):
        if uses_tls:
            names = ["ca"] if has_no_certificate else list(TLS["client"])
            chosen = {name: TLS["client"][name] for name in names}
            options = {**chosen, "use_ssl": True, **options}
        initialize(self, *args, **options)

    return wrapped


@pytest.fixture(scope="class", autouse=True)
def connections_of_the_class(request):
    global uses_tls
    name = request.cls.__name__ if request.cls is not None else ""
    uses_tls = TLS is not None and not name.startswith(PLAIN)
    if uses_tls:
        classes_by_tls.add(name)
    yield
    uses_tls = False


@pytest.fixture(autouse=True)
def certificate_of_the_test(request):
    global has_no_certificate
    has_no_certificate = request.node.name == WITHOUT_CERTIFICATE


@pytest.fixture(scope="class", autouse=True)
def ensemble_of_the_class(request):
    """Gives the classes that need other settings an ensemble of their own."""
    global local_sessions
    if request.cls is None or request.cls.__name__ not in LOCAL_SESSIONS:
        yield
        return
    replace_ensemble()
    local_sessions = True
    yield
    replace_ensemble()
    local_sessions = False


def replace_ensemble():
    """Ends the ensemble that all classes share; kazoo's harness makes a new one when asked."""
    if harness.CLUSTER is not None:
        harness.CLUSTER.terminate()
    harness.CLUSTER = None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    shard, shards = (int(part) for part in os.environ.get("KAZOO_SHARD", "1/1").split("/"))
    kept, dropped, used = [], [], set()
    for item in items:
        reasons = [name for name in EXCLUDED if matches(item, name)]
        used.update(reasons)
        (dropped if reasons else kept).append(item)
    unused = sorted(set(EXCLUDED) - used)
    if unused and "KAZOO_SHARD" in os.environ:
        raise pytest.UsageError("excluded, but there is no such test: %s" % ", ".join(unused))
    mine = share(kept, shard, shards)
    config.hook.pytest_deselected(items=dropped + [item for item in kept if item not in mine])
    items[:] = mine


def matches(item, name):
    """Whether `name` is a prefix, in whole parts, of module.class.test."""
    module = item.module.__name__.split(".")[-1]
    full = ".".join([module] + item.nodeid.split("::")[1:])
    return full == name or full.startswith(name + ".")


def share(items, shard, shards):
    """Deals out whole classes, so that fixtures and the order within a class stay."""
    classes = sorted({item.cls for item in items}, key=position)
    mine = set(classes[shard - 1::shards])
    return [item for item in items if item.cls in mine]


def position(cls):
    name = cls.__name__
    return (SLOW.index(name) if name in SLOW else len(SLOW), cls.__module__, name)


def pytest_terminal_summary(terminalreporter):
    if TLS is not None:
        terminalreporter.write_line("by TLS: %d classes" % len(classes_by_tls))
    for name, reason in EXCLUDED.items():
        terminalreporter.write_line("excluded: %s (%s)" % (name, reason))
