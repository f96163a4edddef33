/** Terminals that are open. */
let open = 0;

/**
 * Lets xterm.js style its screen under a policy that forbids inline styles. It makes `<style>` elements, and writes `style` attributes
 * for colours beyond the palette: while a terminal is open, the former become constructed sheets (CSSOM, 6.6), and the latter go by
 * `style.cssText`, which the policy lets pass since no markup can hold it. The answer ends it.
 */
export function styleBySheets(): () => void {
  if (open++ === 0) document.createElement = createElement as Document['createElement'];
  return () => {
    if (--open === 0) Reflect.deleteProperty(document, 'createElement');
  };
}

function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
  const element = Document.prototype.createElement.call(document, name === 'style' ? 'i' : name, options);
  if (name === 'style') becomeSheet(element);
  else if (name === 'span') element.setAttribute = setAttribute;
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** The element stands where a `<style>` would, and is a sheet of the page instead. */
function becomeSheet(element: HTMLElement): void {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  element.hidden = true;
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    Element.prototype.remove.call(element);
  };
}
