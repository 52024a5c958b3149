// The output of `-w` after a transfer.

import { CurlError, EXIT } from './failure.ts'

export type Transfer = {
  response: Response
  body: Uint8Array
  method: string
  uploaded: number
  seconds: number
  file: string
  exitCode: number
  error: string
}

export function writeOut(format: string, told: Transfer): string {
  const fields = fieldsOf(told)
  return format.replace(/%(%|header\{([^}]*)\}|\{([\w.]+)\})|\\([nrt\\])/g, (whole, kind, header, name, escaped) => {
    if (escaped !== undefined) return { n: '\n', r: '\r', t: '\t' }[escaped as 'n' | 'r' | 't'] ?? '\\'
    if (kind === '%') return '%'
    if (header !== undefined) return told.response.headers.get(header) ?? ''
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined)
      throw new CurlError(EXIT.usage, `the variable ${whole} of --write-out is not available here`)
    return field
  })
}

function fieldsOf({
  response,
  body,
  method,
  uploaded,
  seconds,
  file,
  exitCode,
  error,
}: Transfer): Record<string, string> {
  const status = String(response.status).padStart(3, '0')
  const time = seconds.toFixed(6)
  const location = response.headers.get('location')
  const isRedirect = location !== null && response.status >= 300 && response.status < 400
  return {
    http_code: status,
    response_code: status,
    size_download: String(body.byteLength),
    size_upload: String(uploaded),
    speed_download: String(seconds > 0 ? Math.round(body.byteLength / seconds) : 0),
    content_type: response.headers.get('content-type') ?? '',
    url_effective: response.url,
    url: response.url,
    redirect_url: isRedirect ? new URL(location, response.url).href : '',
    scheme: new URL(response.url).protocol.replace(':', '').toUpperCase(),
    http_version: '1.1',
    method,
    filename_effective: file === '-' ? '' : file,
    exitcode: String(exitCode),
    errormsg: error,
    num_headers: String([...response.headers].length),
    time_total: time,
    time_starttransfer: time,
    time_namelookup: '0.000000',
    time_connect: '0.000000',
    time_appconnect: '0.000000',
    time_pretransfer: '0.000000',
    time_redirect: '0.000000',
  }
}
