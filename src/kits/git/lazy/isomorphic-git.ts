// The only module that loads the git library: half a megabyte that is parsed when a remote's refs are requested.
export { listServerRefs } from 'isomorphic-git'
