// The parts of a commit message.

export function subjectOf(message: string): string {
  return (message.trimStart().split(/\n\s*\n/, 1)[0] ?? '').trimEnd().replace(/\s*\n/g, ' ')
}

export function bodyOf(message: string): string {
  const end = /\n\s*\n/.exec(message.trimStart())
  return end ? message.trimStart().slice(end.index + end[0].length) : ''
}

/** As a part of a file name. */
export function slug(subject: string): string {
  return subject
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^-|[-.]+$/g, '')
}
