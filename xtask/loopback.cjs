// Loaded with `node --require` before a conformance suite: every TCP server of the process listens on 127.0.0.1.
//
// The suites' mock servers name no host, which means every interface of the machine. Naming one in their place would
// resolve it first, and then address(), which the suites call right away, has no answer yet. So the step after
// resolution is replaced, the one that binds.
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
  const isTcp = Number.isInteger(port) && port >= 0;
  return isTcp ? bind.call(this, LOOPBACK, port, IPV4, ...rest) : bind.call(this, address, port, family, ...rest);
};
