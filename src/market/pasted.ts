// What people paste from elsewhere, as `resolveInput` takes it: lists, search and imports read it so; the interface for
// programs stays strict about characters.

import { parseCode } from './instruments.ts'

const FORMS_OF_COMPANIES =
  /(?:[\s,]+(?:inc|incorporated|corp|corporation|co|company|ltd|limited|plc|llc|sa|ag|nv|se|spa|kk|holdings?|group)\.?)+$/i

/**
 * Full-width characters become ASCII; `^GSPC` and `$AAPL` lose their mark; of a name with a code beside it, in brackets or
 * behind a blank, the code stays.
 */
export function readPasted(text: string): string {
  const plain = text.normalize('NFKC').trim().replace(/\s+/g, ' ')
  const unmarked = plain.replace(/^[\^$](?=[A-Za-z0-9])/, '')
  return codeBeside(unmarked) ?? unmarked
}

/** The name without the form of its company: `Apple Inc.` is listed as Apple. Null where there is none. */
export function withoutCompanyForm(name: string): string | null {
  const bare = name.replace(FORMS_OF_COMPANIES, '')
  return bare === name || bare === '' ? null : bare
}

/** `贵州茅台(600519)`, `Apple [AAPL]`, `600519 贵州茅台`, `贵州茅台 600519`. */
function codeBeside(text: string): string | null {
  const bracketed = /^[^()[\]【】]+[([【]\s*([A-Za-z0-9.^-]{1,12})\s*[)\]】]$/.exec(text)?.[1]
  const before = /^([\d.A-Za-z]*\d[\d.A-Za-z]*)\s+\P{ASCII}[^\d]*$/u.exec(text)?.[1]
  const after = /^\P{ASCII}[^\d]*?\s+([\d.A-Za-z]*\d[\d.A-Za-z]*)$/u.exec(text)?.[1]
  const code = (bracketed ?? before ?? after)?.replace(/^\^/, '')
  return code !== undefined && parseCode(code).ok ? code : null
}
