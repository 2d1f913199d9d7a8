// Elements of the page, which hold text and never markup.

export const find = (id) => document.getElementById(id);
export const write = (element, words) => {
  if (element.textContent !== words) element.textContent = words;
};
export const say = (id, words) => write(find(id), words);

export function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  set(element, attributes);
  element.append(...children);
  return element;
}

export function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

/** Makes `parent` hold exactly `length` children, of which new ones come from `create`. */
export function resize(parent, length, create) {
  while (parent.children.length > length) parent.lastChild.remove();
  while (parent.children.length < length) parent.append(create());
  return [...parent.children];
}

/** A table that exists only while its fold is open: what nobody reads costs nothing. */
export class Table {
  constructor(details, caption, head) {
    this.details = details;
    this.body = html('tbody');
    this.table = html('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption },
      html('table', {},
        html('thead', {}, html('tr', {}, ...head.map((words) => html('th', { scope: 'col' }, words)))),
        this.body));
    this.rows = [];
    details.addEventListener('toggle', () => this.draw());
  }

  show(rows) {
    this.rows = rows;
    this.details.hidden = rows.length === 0;
    this.draw();
  }

  draw() {
    if (!this.details.open) {
      this.body.replaceChildren();
      this.table.remove();
      return;
    }
    const lines = resize(this.body, this.rows.length, () => html('tr', {}, html('th', { scope: 'row' })));
    this.rows.forEach((cells, index) => {
      resize(lines[index], cells.length, () => html('td')).forEach((cell, place) => write(cell, cells[place]));
    });
    if (!this.table.isConnected) this.details.append(this.table);
  }
}
