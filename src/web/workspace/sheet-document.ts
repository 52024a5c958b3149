// The page's document for a library that writes its styles as text into elements, which the content security policy of the
// console forbids. Here they become style sheets that the script adopts, which it allows.

export function sheetDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      if (name === 'createElement')
        return (tag: string) => (tag === 'style' ? sheetElement() : target.createElement(tag))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
}

/** Stands where a style element would, empty. */
function sheetElement(): HTMLElement {
  const element = document.createElement('style')
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) })
  const remove = element.remove.bind(element)
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)
    remove()
  }
  return element
}
