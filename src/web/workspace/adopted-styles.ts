// For a library that writes its styles as text into elements and attributes, which the console's content security
// policy forbids: they become adopted style sheets and style properties, which it allows.

/** Until the returned function is called, created elements set their styles in the allowed way. */
export function adoptStyles(): () => void {
  const sheets: CSSStyleSheet[] = []
  const make = Document.prototype.createElement.bind(document)
  const sheetElement = () => {
    // Replaces a style element, and has no effect itself.
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
