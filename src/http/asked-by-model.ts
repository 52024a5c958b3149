// Requests that a tool makes on the word of the model behind its client. They have their caller's rights, but an address in
// them was chosen by nobody who can be trusted with it.

const asked = new WeakSet<Request>()

export function noteAskedByModel(request: Request): Request {
  asked.add(request)
  return request
}

export function isAskedByModel(request: Request): boolean {
  return asked.has(request)
}
