// SVG made a PNG by resvg, in WebAssembly. It is loaded with the first picture: the module is larger than all else of a report.

import { brotliDecompressSync } from 'node:zlib'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import wasm from '@resvg/resvg-wasm/index_bg.wasm'
import { CARD_FONT } from '../card.ts'

let ready: Promise<void> | null = null
let font: Uint8Array | null = null

/** `packedFont` is asked for once, the font compressed by Brotli; null where there is none, and then there is no picture. */
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
    // The memory of WebAssembly is collected by nobody.
    picture.free()
    drawing.free()
  }
}
