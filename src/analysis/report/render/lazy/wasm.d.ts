declare module '*.wasm' {
  const module: WebAssembly.Module
  // biome-ignore lint/style/noDefaultExport: what the runtime gives to who imports such a module.
  export default module
}
