/** The git whose ways are followed, as mails and `git version` name it. */
export const GIT_VERSION = '2.40.0'
