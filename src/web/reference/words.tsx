/** A sentence of the document: what stands between backticks is code. */
export function Words({ text }: { text: string }) {
  // Every second piece stood between two backticks.
  const pieces = text.split('`')
  return (
    <>{pieces.map((piece, at) => (at % 2 === 1 && at < pieces.length - 1 ? <code key={at}>{piece}</code> : piece))}</>
  )
}
