/** Closes it, once it is open: a browser writes an error into its console for a socket that is closed while it opens. */
export function closeQuietly(socket: WebSocket, code?: number): void {
  if (socket.readyState === WebSocket.CONNECTING) {
    socket.addEventListener('open', () => socket.close(code), { once: true })
  } else socket.close(code)
}
