"""Connects kazoo by TLS or by SASL, and writes and reads an ACL of its own identity.

Arguments: the connect string, then a JSON object with the options of KazooClient, then the scheme
and the id that the client is expected to have. Called by foreign-secure.test.ts.
"""
import json
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from kazoo.security import ACL, Id

hosts, options, scheme, identity = sys.argv[1:]
client = KazooClient(hosts, timeout=10, **json.loads(options))
client.start(timeout=30)
path = "/kazoo-" + scheme
acl = ACL(31, Id(scheme, identity))
client.create(path, b"private", acl=[acl])
assert client.get(path)[0] == b"private"
client.create(path + "/auth", b"x", acl=[ACL(31, Id("auth", ""))])
assert client.get_acls(path + "/auth")[0] == [acl], client.get_acls(path + "/auth")
client.create(path + "/other", b"x", acl=[ACL(31, Id(scheme, identity + "x"))])
try:
    client.get(path + "/other")
    raise AssertionError("the ACL of another identity was not honoured")
except NoAuthError:
    pass
client.stop()
client.close()
print("all is well")
