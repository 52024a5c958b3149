// Converts SVG to PNG with resvg, in WebAssembly. It is loaded with the first picture, because the module is larger
// than the rest of a report's code.

import { brotliDecompressSync } from 'node:zlib'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import wasm from '@resvg/resvg-wasm/index_bg.wasm'
import { CARD_FONT } from '../card.ts'

let ready: Promise<void> | null = null
let font: Uint8Array | null = null

/**
 * `packedFont` is called once and returns the font, compressed with Brotli; null when it is missing, and then there is
 * no picture.
 */
export async function pngOf(svg: string, packedFont: () => Promise<Uint8Array | null>): Promise<Uint8Array | null> {
  if (font === null) {
    const packed = await packedFont()
    if (packed === null) return null
    font = new Uint8Array(brotliDecompressSync(packed))
  }
  ready ??= initWasm(wasm)
  await ready
  const drawing = new Resvg(svg, {
    font: { fontBuffers: [font], loadSystemFonts: false, defaultFontFamily: CARD_FONT },
  })
  const picture = drawing.render()
  try {
    return picture.asPng()
  } finally {
    // WebAssembly memory is not garbage-collected.
    picture.free()
    drawing.free()
  }
}
