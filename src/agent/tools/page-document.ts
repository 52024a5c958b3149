// As much of a document's shape as is used here; the types of a browser are not at hand in a Worker.

export interface PageElement {
  readonly nodeName: string
  readonly childNodes: ArrayLike<unknown>
  readonly children: ArrayLike<PageElement>
  innerHTML: string
  textContent: string | null
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelectorAll(selector: string): ArrayLike<PageElement>
  replaceWith(...nodes: unknown[]): void
}

export interface PageDocument extends PageElement {
  title: string
  readonly body: PageElement | null
  createTextNode(text: string): unknown
  createElement(name: string): PageElement
}
