// Estimates how many tokens a text has. No tokenizer is needed: the vendor's own counts correct the estimate. A tokenizer's
// tables would be larger than the rest of the service.

/** In scripts without spaces between words, one character is about one token. */
const DENSE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/g

export function textTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0
  return Math.ceil((text.length - dense) / 3.6 + dense * 0.9)
}
