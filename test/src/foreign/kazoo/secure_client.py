"""Connects kazoo by TLS and by SASL, writes ACLs of each identity, and reads those of others.

Arguments: a JSON list with an object for each identity (servers, options of KazooClient, scheme,
id), then the names of the other clients that write as the same identities, with commas. Called by
secure.test.ts.
"""
import json
import sys
import time

from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from kazoo.security import ACL, Id

POLL_S = 0.05
DEADLINE_S = 40


def write_own(client, scheme, identity):
    path = "/kazoo-" + scheme
    acl = ACL(31, Id(scheme, identity))
    client.create(path, b"private", acl=[acl])
    read(client, path)
    client.create(path + "/auth", b"x", acl=[ACL(31, Id("auth", ""))])
    assert client.get_acls(path + "/auth")[0] == [acl], client.get_acls(path + "/auth")
    client.create(path + "/other", b"x", acl=[ACL(31, Id(scheme, identity + "x"))])
    try:
        client.get(path + "/other")
        raise AssertionError("the ACL of another identity was not honoured")
    except NoAuthError:
        pass


def read(client, path):
    deadline = time.monotonic() + DEADLINE_S
    while client.exists(path) is None:
        assert time.monotonic() < deadline, "there is no " + path
        time.sleep(POLL_S)
    assert client.get(path)[0] == b"private"


identities, others = sys.argv[1:]
for one in json.loads(identities):
    client = KazooClient(one["servers"], timeout=10, **one["options"])
    client.start(timeout=30)
    write_own(client, one["scheme"], one["id"])
    for other in others.split(","):
        read(client, "/%s-%s" % (other, one["scheme"]))
    client.stop()
    client.close()
print("all is well")
