// The Chinese wording of why an action is risky: the sentences of the security rules (src/agent/security, src/agent/tools).

export const ZH_RISKS = {
  'deletes a folder with all that is in it': '删除一个文件夹及其全部内容',
  'destroys what is on it, or makes files unreadable for good': '破坏设备上的内容，或使文件永久无法读取',
  'deletes whatever a search finds': '删除搜索到的所有文件',
  'deletes at the target what the source does not have': '删除目标位置中源位置没有的文件',
  'discards uncommitted work': '丢弃未提交的修改',
  'discards files that are not committed': '丢弃未提交的文件',
  'takes changes back that another command shows': '撤销由另一条命令输出的修改',
  'adds files that are to be ignored, as those with secrets are': '加入本应忽略的文件，其中可能含有密文',
  'adds a file that is to be ignored': '加入一个本应忽略的文件',
  'takes a patch back': '撤销一个补丁',
  'writes files over uncommitted work': '写入文件并覆盖未提交的修改',
  'discards a worktree or a submodule with its changes': '丢弃一个工作树或子模块及其修改',
  'deletes a branch that is not merged': '删除尚未合并的分支',
  'rewrites or removes what was pushed': '改写或删除已推送的内容',
  'throws away stashed or unreachable commits': '丢弃已贮藏（stash）或不可达的提交',
  'rewrites the whole history': '改写全部历史',
  'removes files with their changes': '删除文件及其修改',
  'talks to a git remote': '与远程 Git 仓库通信',
  'rewrites commits, or moves or removes a branch or a tag': '改写提交，或移动、删除分支或标签',
  'gives up changes that were made before a merge': '放弃合并之前所做的修改',
  "passes by the owner's hooks": '绕过所有者设置的钩子（hooks）',
  'may write over uncommitted changes of a file': '可能覆盖文件中未提交的修改',
  'deletes files, or takes changes away for good': '删除文件，或永久去除修改',
  'changes where git sends and fetches': '更改 Git 推送和拉取的地址',
  'changes the settings of git, or shows all of them': '更改 Git 设置，或显示全部设置',
  'runs commands of its own making': '运行它自行生成的命令',
  'sends a file or the output of another command to the network': '把文件或其他命令的输出发送到网络',
  'gives a shell or a program to the network': '向网络开放一个 shell 或程序',
  'copies files to another machine': '把文件复制到另一台机器',
  'publishes a package': '发布软件包',
  'shows all variables, secrets among them': '显示全部变量，包括密文',
  'shows all variables of programs, secrets among them': '显示程序的全部变量，包括密文',
  'shows a variable that is named like a secret': '显示一个名称像密文的变量',
  'talks to the network': '访问网络',
  'deletes or empties files': '删除或清空文件',
  'takes away the files that it packs': '打包后删除原文件',
  'changes who may do what': '更改权限或所有者',
  'runs something later or elsewhere': '稍后或在别处运行程序',
  'ends programs': '结束程序',
  'fetches packages and runs their code': '下载软件包并运行其代码',
  'tells the names of variables, a step to their values': '列出变量名称，可进一步得到其值',
  'changes what the names of commands mean': '更改命令名称的含义',
  'changes how git behaves: its hooks, or files inside `.git`': '更改 Git 的行为：钩子（hooks）或 `.git` 中的文件',
  'makes git run something: an alias with `!`, hooks from elsewhere, a pager, an editor, a helper for credentials, or its variables such as `GIT_SSH_COMMAND`, unless that something is known and low':
    '让 Git 运行其他程序：带 `!` 的别名、别处的钩子、分页器、编辑器、凭据助手，或 `GIT_SSH_COMMAND` 等变量；已知且低风险的程序除外',
  'reads, writes or sends a file that is named like one with secrets; commands that only show or test names may name it':
    '读取、写入或发送名称像含有密文的文件；只显示或检查名称的命令除外',
  'uses a variable that is one of your secrets or is named like one': '使用您的密文变量，或名称像密文的变量',
  'runs a text that was fetched or made on the way: `… | sh`, `bash <(…)`, `eval "$x"`':
    '运行下载的或临时生成的文本：`… | sh`、`bash <(…)`、`eval "$x"`',
  'deletes or empties whatever a search finds or a list names': '删除或清空搜索到的或列表中的所有文件',
  'changes who may do what with whatever a search finds': '更改搜索到的所有文件的权限或所有者',
  'is too large, too deeply nested or too complex to be judged': '过大、嵌套过深或过于复杂，无法判断',
  'holds characters that cannot be seen or that turn the direction of writing, so that a reader sees another command than the one that runs':
    '含有不可见字符或改变书写方向的字符，看到的命令与实际运行的不同',
  'writes a script that the service runs by itself: `.bellwether/setup.sh` or `pre-commit.sh`, and those in `.openhands`':
    '写入本服务会自动运行的脚本：`.bellwether/setup.sh` 或 `pre-commit.sh`，以及 `.openhands` 中的脚本',
  'discards uncommitted work of a file': '丢弃某个文件未提交的修改',
  'writes to a disk as a whole': '直接写入整个磁盘',
  'starts other programs': '启动其他程序',
  'its name is not known before it runs (`$x`, `$(…)`, a pattern), or no rule knows it':
    '命令名称在运行前未知（`$x`、`$(…)`、通配符），或没有规则认识它',
  'runs code that is not in the command: a script file, `source x`, `sh -c "$x"`, a program in a language that is not read here':
    '运行命令之外的代码：脚本文件、`source x`、`sh -c "$x"`，或无法在此分析的语言的程序',
  'runs made text, loads what is not known, or reaches files or the process by a computed name':
    '运行生成的文本、加载未知内容，或用计算出的名称访问文件或进程',
  "reads git's settings, which may hold a token": '读取 Git 设置，其中可能含有令牌',
  'reads all files whose names begin with a dot: `.*`': '读取所有以点开头的文件：`.*`',
  'reads a variable whose name is computed (`${!x}`), or expands a text as a prompt (`${x@P}`)':
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    '读取名称由计算得出的变量（`${!x}`），或把文本当作提示符展开（`${x@P}`）',
  'sets a variable by which programs load other code or find other programs: `BASH_ENV`, `LD_PRELOAD`, something in front of `PATH`':
    '设置会让程序加载其他代码或找到其他程序的变量：`BASH_ENV`、`LD_PRELOAD`，或在 `PATH` 前加入路径',
  'opens a connection: `/dev/tcp/…`': '打开网络连接：`/dev/tcp/…`',
  'surely empties a file: `> x`, `: > x`, `sort x > x`': '必定清空一个文件：`> x`、`: > x`、`sort x > x`',
  'deletes files': '删除文件',
  'writes a file that a shell or a scheduler runs later: `.bashrc`, cron':
    '写入 shell 或计划任务稍后会运行的文件：`.bashrc`、cron',
  'writes what agents are told in conversations to come: `.bellwether/microagents` and `.openhands`':
    '写入今后会话中给智能体的指示：`.bellwether/microagents` 和 `.openhands`',
  'writes outside of the workspace and /tmp': '在工作区和 /tmp 之外写入',
  'cannot be parsed': '无法解析',
  'opens a page: the model chooses the address, and a stranger the text': '打开网页：地址由模型选择，内容来自外部',
  'does something in a browser that cannot be read': '在浏览器中执行无法判断的操作',
  'sends a file of the workspace to a page': '把工作区的文件发送到网页',
  'acts in a page: the model chooses what it opens, types and clicks, and a stranger what the page does then':
    '操作网页：打开、输入和点击由模型选择，网页随后的行为由外部决定',
  'runs Python, which nothing here judges': '运行 Python，此处无法判断其风险',
  'changes a file inside `.git`, a hook, a script that the service runs by itself, a file that is named like one with secrets, or one outside of the workspace and /tmp':
    '更改 `.git` 中的文件、钩子、本服务会自动运行的脚本、名称像含有密文的文件，或工作区和 /tmp 之外的文件',
  'changes what agents are told in conversations to come: `.bellwether/microagents` and `.openhands`':
    '更改今后会话中给智能体的指示：`.bellwether/microagents` 和 `.openhands`',
  'reads a file that is named like one with secrets': '读取名称像含有密文的文件',
  'calls a tool of which its server says that it destroys something': '调用其服务器声明具有破坏性的工具',
  'opens a pull or merge request with the stored token': '用已保存的令牌创建拉取请求或合并请求',
  'calls a tool of a remote server, also one of which it says that it only reads':
    '调用远程服务器的工具，包括其声明为只读的工具',
  'does something of a kind that no rule knows': '执行没有规则认识的操作',
} as const
