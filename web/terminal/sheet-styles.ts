/**
 * Lets xterm.js style its screen under a policy that forbids inline styles. It makes `<style>` elements, and writes `style` attributes
 * for colours beyond the palette: the former become constructed sheets (CSSOM, 6.6), the latter go by `style.cssText`, which the policy
 * lets pass since no markup can hold it.
 */
export function openWithSheets(open: () => void): void {
  const own = Object.getOwnPropertyDescriptor(document, 'createElement');
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === 'style' ? sheetElement() : Document.prototype.createElement.call(document, name, options)) as Document['createElement'];
  try {
    open();
  } finally {
    if (own === undefined) Reflect.deleteProperty(document, 'createElement');
    else Object.defineProperty(document, 'createElement', own);
  }
}

/** The document, for what xterm.js makes later on. */
export function styledDocument(): Document {
  const make = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = name === 'style' ? sheetElement() : document.createElement(name, options);
    if (name === 'span') element.setAttribute = setAttribute;
    return element;
  };
  return new Proxy(document, {
    get(target, name) {
      if (name === 'createElement') return make;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** Stands where a `<style>` would, and is a sheet of the page instead. */
function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = document.createElement('i');
  element.hidden = true;
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
