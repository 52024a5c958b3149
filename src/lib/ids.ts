/** 32 lower-case hex digits: a random UUID without its hyphens. */
export function hexId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}
