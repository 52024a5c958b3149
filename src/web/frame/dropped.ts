// A file that is dropped outside a target would otherwise open in place of the page.

export const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false

/** A file input handles dropped files itself. */
const isFileField = ({ target }: DragEvent): boolean => target instanceof HTMLInputElement && target.type === 'file'

/** Listens on the window, after the drop targets of the page. */
export function keepFromDropped(): void {
  const refuse = (event: DragEvent) => {
    if (event.defaultPrevented || !hasFiles(event) || isFileField(event)) return
    event.preventDefault()
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none'
  }
  addEventListener('dragover', refuse)
  addEventListener('drop', refuse)
}
