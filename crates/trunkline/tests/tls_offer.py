"""Prints what a TLS server offers: its protocols, ciphers of TLS 1.2 and ALPN, as JSON.

With --serial, prints the serial number of its certificate instead.
"""

import json
import socket
import ssl
import sys
import warnings

warnings.simplefilter("ignore")
host, port = sys.argv[1].rsplit(":", 1)
authority = sys.argv[2]
VERSIONS = ["TLSv1", "TLSv1_1", "TLSv1_2", "TLSv1_3"]


def connect(context):
    with socket.create_connection((host, int(port)), timeout=60) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secure:
            return secure.version(), secure.cipher()[0], secure.selected_alpn_protocol(), secure.getpeercert()


def client():
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


if "--serial" in sys.argv:
    print(connect(client())[3]["serialNumber"])
    sys.exit()

protocols, alpn = [], None
for name in VERSIONS:
    context = client()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, name)
    try:
        version, _, alpn, _ = connect(context)
        protocols.append(version)
    except (ssl.SSLError, ConnectionError):
        pass

ciphers = []
everything = client()
everything.set_ciphers("ALL:@SECLEVEL=0")
for cipher in everything.get_ciphers():
    if cipher["protocol"] == "TLSv1.3":
        continue
    context = client()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(cipher["name"] + ":@SECLEVEL=0")
    try:
        ciphers.append(connect(context)[1])
    except (ssl.SSLError, ConnectionError):
        pass

print(json.dumps({"protocols": protocols, "ciphers": ciphers, "alpn": alpn}))
