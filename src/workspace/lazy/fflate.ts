// The one place that loads the library which packs ZIP archives of the shell's.
export { zipSync } from 'fflate'
