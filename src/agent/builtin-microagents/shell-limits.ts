export const SHELL_LIMITS = `---
name: shell-limits
version: 1.0.0
triggers:
  - npm install
  - npm run
  - npm test
  - yarn
  - pip install
  - pytest
  - apt-get
  - apt install
  - docker
  - kubectl
  - systemctl
  - localhost
  - dev server
---
# What the shell of this workspace can do

The shell interprets bash over the files of the workspace. It has the text tools of a Unix system (\`grep\`, \`sed\`, \`awk\`,
\`find\`, \`sort\`, \`diff\`, \`jq\` and their kind), functions, pipes and here-documents.

- It starts no processes: Python and other language runtimes, compilers, package managers, containers and services are not
  available, and nothing can listen on a port. Do not try to install them.
- JavaScript is the exception: \`node file.js\`, \`node -e\` and \`node --test\` run plain JavaScript with the files of the
  workspace, each time in an isolate of its own, without network and without packages that are not in the workspace. What
  \`npm test\` would run, look up in \`package.json\`. TypeScript and JSX are not run.
- There is also \`git\`, \`curl\`, \`tar\`, \`gzip\`, \`zip\`, \`unzip\` and \`patch\`.
- A command that runs too long is cut off, and nothing goes on in the background after a command has ended.
- What needs another runtime to be checked cannot be run here. Say so plainly, never claim that something was run or passed,
  and tell the user the command to run on their side.
- Check what can be checked by reading: follow imports with \`grep\`, validate JSON with \`jq\`, compare with \`diff\`.
`
