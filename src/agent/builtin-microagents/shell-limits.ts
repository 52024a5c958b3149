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

- It starts no processes: language runtimes, compilers, package managers, containers and services are not available, and
  nothing can listen on a port. Do not try to install them.
- A command that runs too long is cut off, and nothing goes on in the background after a command has ended.
- What needs a runtime to be checked, a test suite for instance, cannot be run here. Say so plainly, never claim that
  something was run or passed, and tell the user the command to run on their side.
- Check what can be checked by reading: follow imports with \`grep\`, validate JSON with \`jq\`, compare with \`diff\`.
`
