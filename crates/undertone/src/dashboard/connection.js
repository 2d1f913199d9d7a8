// What the collector says, as it says it: by events, or by asking again and again.

import { find, say } from './elements.js';
import { clock } from './words.js';

const RETRY = 2_000; // ms between two questions while polling or while the collector is away
const SILENCE = 10_000; // ms without an event after which the collector is asked whether it is still there
const WITHOUT_STREAM = 30_000; // ms of polling before a stream that could not be opened is tried again
const TOKEN = 'undertone-read-token';

/** The read token of this tab, if there is one. */
export const token = {
  held: () => sessionStorage.getItem(TOKEN),
  keep: (words) => sessionStorage.setItem(TOKEN, words),
  forget: () => sessionStorage.removeItem(TOKEN),
};

class Locked extends Error {}

const CONNECTIONS = {
  connecting: 'Connecting',
  live: 'Live',
  polling: 'Live, every 2 seconds',
  locked: 'Locked',
  lost: 'Connection lost, trying again',
};

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** `show` gets each status, and throws if it is none; `shown` says of when the last is; `unlock` waits for a token. */
export class Connection {
  #streamAgain = 0;

  constructor({ show, shown, unlock }) {
    this.show = show;
    this.shown = shown;
    this.unlock = unlock;
  }

  /** Watches for as long as the page is there. */
  async watch() {
    for (;;) {
      const began = performance.now();
      try {
        this.show(await ask());
        if (token.held() === null && performance.now() >= this.#streamAgain) {
          this.#tell('live');
          await this.#listen();
        } else {
          this.#tell('polling');
        }
      } catch (trouble) {
        await this.#recover(trouble);
      }
      const rest = RETRY - (performance.now() - began);
      if (rest > 0) await sleep(rest);
    }
  }

  async #recover(trouble) {
    if (trouble instanceof Locked) {
      this.#tell('locked');
      await this.unlock();
    } else {
      this.#streamAgain = 0; // a stream that broke with the collector says nothing about the one that comes back
      this.#tell('lost', trouble.message);
    }
  }

  #tell(state, trouble) {
    find('connection').dataset.state = state;
    say('connection-words', CONNECTIONS[state]);
    find('notice').hidden = state !== 'lost';
    const now = this.shown();
    const age = now === null ? '' : ` These are the figures of ${clock(now)}.`;
    say('notice', state === 'lost' ? `Connection lost, trying again: ${trouble}.${age}` : '');
  }

  /** Listens to events until there are none any more. The browser cannot send a token with them. */
  #listen() {
    return new Promise((resolve) => {
      const stream = new EventSource('v1/events');
      let opened = false;
      let silence;
      const end = () => {
        clearTimeout(silence);
        stream.close();
        if (!opened) this.#streamAgain = performance.now() + WITHOUT_STREAM;
        resolve();
      };
      const wait = () => {
        clearTimeout(silence);
        silence = setTimeout(() => ask().then(this.show).then(wait, end), SILENCE);
      };
      stream.addEventListener('open', () => {
        opened = true;
        this.#tell('live');
      });
      stream.addEventListener('status', (event) => {
        try {
          this.show(JSON.parse(event.data));
          wait();
        } catch {
          end();
        }
      });
      stream.addEventListener('error', end);
      wait();
    });
  }
}

async function ask() {
  const held = token.held();
  const headers = held === null ? {} : { Authorization: `Bearer ${held}` };
  let answer;
  try {
    answer = await fetch('v1/status', { headers, cache: 'no-store', signal: AbortSignal.timeout(SILENCE) });
  } catch {
    throw new Error('the collector does not answer');
  }
  if (answer.status === 401 || answer.status === 403) throw new Locked();
  if (!answer.ok) throw new Error(`the collector answers with error ${answer.status}`);
  try {
    return await answer.json();
  } catch {
    throw new Error('its answer is not a status');
  }
}
