import { type Block, type Run, reviewBlocks } from './review-blocks.ts'

/** A market review as a person reads it. */
export function ReviewText({ markdown }: { markdown: string }) {
  return <div class="review">{reviewBlocks(markdown).map(block)}</div>
}

function block(one: Block, key: number) {
  switch (one.kind) {
    case 'heading':
      // The page's own heading is the first; those of the text stand below it.
      return one.level <= 2 ? <h2 key={key}>{one.runs.map(run)}</h2> : <h3 key={key}>{one.runs.map(run)}</h3>
    case 'paragraph':
      return <p key={key}>{one.runs.map(run)}</p>
    case 'quote':
      return <blockquote key={key}>{one.blocks.map(block)}</blockquote>
    case 'list':
      return (
        <ul key={key}>
          {one.items.map((item, i) => (
            <li key={i}>{item.map(run)}</li>
          ))}
        </ul>
      )
    case 'table':
      return <Table key={key} head={one.head} rows={one.rows} />
    case 'rule':
      return <hr key={key} />
  }
}

function Table({ head, rows }: { head: Run[][]; rows: Run[][][] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the window is scrolled with the keys, too
    <div class="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col">
                {cell.map(run)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{cell.map(run)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function run(one: Run, key: number) {
  switch (one.kind) {
    case 'text':
      return one.text
    case 'strong':
      return <strong key={key}>{one.text}</strong>
    case 'em':
      return <em key={key}>{one.text}</em>
    case 'link':
      return (
        <a key={key} href={one.url} target="_blank" rel="noopener noreferrer">
          {one.text}
        </a>
      )
    case 'image':
      return <img key={key} src={one.url} alt={one.text} />
  }
}
