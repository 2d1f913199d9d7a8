// A collector that says what it is told to say: the files of the page, `v1/status` and `v1/events`.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const folder = new URL('../crates/undertone/src/dashboard/', import.meta.url);
const file = (name) => readFileSync(new URL(name, folder), 'utf8');

/** The policy that the program sends, from where it is written. */
function policy() {
  const found = /CONTENT_SECURITY_POLICY: &str = "([^"]+)"/.exec(file('mod.rs'));
  if (!found) throw new Error('mod.rs does not say the Content-Security-Policy');
  return found[1].replace(/\\\n\s*/g, '');
}

/** The scripts that the program serves, from where they are listed. */
function scripts() {
  const found = [...file('mod.rs').matchAll(/include_str!\("(\w+\.js)"\)/g)];
  if (found.length === 0) throw new Error('mod.rs does not list the scripts');
  return found.map(([, name]) => [`/${name}`, [name, 'text/javascript; charset=utf-8']]);
}

const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  ...Object.fromEntries(scripts()),
};

export class Collector {
  #server = null;
  #streams = new Set();
  #sockets = new Set();
  port = 0;
  status;
  /** A token that every question has to carry, if any */
  token = null;
  /** Whether there are events */
  events = true;
  /** A status code with which every question for the status is answered, if any */
  error = null;
  /** How often the status was asked for */
  asked = 0;

  constructor(status) {
    this.status = status;
  }

  get url() {
    return `http://127.0.0.1:${this.port}/`;
  }

  get listeners() {
    return this.#streams.size;
  }

  async start() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise((resolve) => this.#server.listen(this.port, '127.0.0.1', resolve));
    this.port = this.#server.address().port;
  }

  /** Goes away without a word, as a killed process does. */
  async stop() {
    for (const socket of this.#sockets) socket.destroy();
    this.#streams.clear();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Says `status` to whoever listens, and from now on to whoever asks. */
  say(status) {
    this.status = status;
    for (const stream of this.#streams) stream.write(`event: status\ndata: ${JSON.stringify(status)}\n\n`);
  }

  #answer(request, response) {
    const known = FILES[request.url];
    if (known) {
      response.writeHead(200, { 'content-type': known[1], 'content-security-policy': policy(), 'x-content-type-options': 'nosniff' });
      response.end(file(known[0]));
    } else if (!['/v1/status', '/v1/events'].includes(request.url)) {
      response.writeHead(404).end();
    } else if (this.token !== null && request.headers.authorization !== `Bearer ${this.token}`) {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    } else if (request.url === '/v1/status') {
      this.asked += 1;
      response.writeHead(this.error ?? 200, { 'content-type': 'application/json' });
      response.end(this.error ? '{}' : JSON.stringify(this.status));
    } else if (!this.events) {
      response.writeHead(503).end();
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(`event: status\ndata: ${JSON.stringify(this.status)}\n\n`);
      this.#streams.add(response);
      response.on('close', () => this.#streams.delete(response));
    }
  }
}
