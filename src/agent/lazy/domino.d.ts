// The library has types only under its older name, and those need the types of a browser.
declare module '@mixmark-io/domino' {
  export function createDocument(html?: string, force?: boolean): import('../tools/page-to-markdown.ts').PageDocument
}
