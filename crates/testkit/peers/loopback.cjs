// Loaded with `node --require` before a foreign server: every TCP listener of the process is bound to 127.0.0.1.
//
// The conformance suites' mock servers and some reference servers name no host, which means every interface of the
// machine. Naming one in their place would resolve it first, and then address(), which the suites call right away, has
// no answer yet. So the step after resolution is replaced, the one that binds.
//
// With REPORT_LISTENERS set, each listener is reported on stderr as `listening on 127.0.0.1:PORT`, so that a server
// which can be told to use port 0 but does not tell the port it got can be found.
'use strict';

const { Server } = require('node:net');

const LOOPBACK = '127.0.0.1';
const IPV4 = 4;
const bind = Server.prototype._listen2;

if (typeof bind !== 'function') {
  throw new Error('this Node binds its servers in another way; loopback.cjs must learn it');
}

Server.prototype._listen2 = function bindToLoopback(address, port, family, ...rest) {
  // Pipes and inherited descriptors come with a negative port or none.
  if (!Number.isInteger(port) || port < 0) {
    return bind.call(this, address, port, family, ...rest);
  }
  if (process.env.REPORT_LISTENERS) {
    this.once('listening', () => process.stderr.write(`listening on ${LOOPBACK}:${this.address().port}\n`));
  }
  return bind.call(this, LOOPBACK, port, IPV4, ...rest);
};
