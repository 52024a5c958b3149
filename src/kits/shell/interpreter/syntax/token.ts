export type Token = {
  kind: 'word' | 'sign' | 'newline' | 'end'
  text: string
  start: number
}
