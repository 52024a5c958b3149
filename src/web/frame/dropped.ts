// A file that is dropped where nobody takes it would be opened in place of the page.

export const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false

/** A field for files takes what is dropped on it by itself. */
const isFileField = ({ target }: DragEvent): boolean => target instanceof HTMLInputElement && target.type === 'file'

/** Of the window: whoever takes files in the page has been asked before. */
export function keepFromDropped(): void {
  const refuse = (event: DragEvent) => {
    if (event.defaultPrevented || !hasFiles(event) || isFileField(event)) return
    event.preventDefault()
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none'
  }
  addEventListener('dragover', refuse)
  addEventListener('drop', refuse)
}
