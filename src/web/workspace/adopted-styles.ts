// For a library that writes its styles as text into elements and attributes, which the content security policy of the console
// forbids: they become style sheets that the script adopts, and properties, which it allows.

/** Until what it returns is called, elements that are made take their styles in the allowed way. */
export function adoptStyles(): () => void {
  const sheets: CSSStyleSheet[] = []
  const make = Document.prototype.createElement.bind(document)
  const sheetElement = () => {
    // Stands where a style element would, and is nothing.
    const element = make('template')
    const sheet = new CSSStyleSheet()
    sheets.push(sheet)
    document.adoptedStyleSheets.push(sheet)
    Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) })
    return element
  }
  const styled = (tag: string, options?: ElementCreationOptions) => {
    const element = make(tag, options)
    element.setAttribute = (name, value) => {
      if (name === 'style') element.style.cssText = value
      else Element.prototype.setAttribute.call(element, name, value)
    }
    return element
  }
  document.createElement = ((tag: string, options?: ElementCreationOptions) =>
    tag === 'style' ? sheetElement() : styled(tag, options)) as typeof document.createElement
  return () => {
    Reflect.deleteProperty(document, 'createElement')
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => !sheets.includes(one))
  }
}
