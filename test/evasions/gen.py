# draft generator, not committed
T = r"""(/[^A-Za-z0-9 ]*|/[\[{][^ ]*|/[^/ ]+(/\*)?|/(home|Users|Volumes|root)/[^/ ]+(/\*)?|/root/\.[^ ]*|/(etc|usr|bin|sbin|lib|lib64|boot|dev|proc|sys|opt|System|Library|Applications)/[^ ]*|/var/(lib|log|spool|www|cache|mail|run|db|backups)(/[^ ]*)?|~[^/ ]*(/[^/ ]*)?|~/\.[^ ]*|["']*\$\{?(HOME|PWD|OLDPWD)\b[^/ ]*(/[^/ ]*)?|\.{1,2}(/\.\.)*(/\*)?|\.?\*|\.\[[^ ]*|\{\*[^ ]*|([^ ]*/)?\.git(/\*)?)"""
S = r"""(/(etc|usr|bin|sbin|lib|lib64|boot|proc|sys|System|Library)(/[^ ]*)?|/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|md|dm-|loop)[^ ]*|/var/(lib|log|spool|mail)(/[^ ]*)?|~/\.(bashrc|bash_profile|bash_history|profile|zshrc|zprofile|zshenv|ssh/[^ ]*|gitconfig|config/fish/[^ ]*)|["']*\$\{?HOME\}?["']*/\.(bashrc|bash_profile|bash_history|profile|zshrc|zprofile|zshenv|ssh/[^ ]*|gitconfig)["']*)"""
DEV = r"""/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|md|dm-)[^ ]*"""
rules = []
def rule(name, action, reason, *patterns):
    rules.append((name, action, reason, patterns))

rule("delete-outside", "block", "this deletes what is not the project's, or all of the project",
 "/(rm|rmdir|unlink|srm|shred|wipe|trash|trash-put|gio trash|rimraf|cmake -E (rm|remove_directory)) (.* )?" + T + "( .*)?/",
 "/(npx|bunx|pnpm dlx|npm exec|yarn dlx) (.* )?(rimraf|del-cli) (.* )?('?/\\*\\*'?|" + T + ")( .*)?/",
 "/mv (.* )?" + T + "( .*)? [^ ]+/",
 "/mv (.* )?[^ ]+ /dev/null/",
 "/(find|fd|fdfind) (.* )?" + T + "( .*)? -delete( .*)?/",
 "/find( -[HLP])*( \\.)?( -(type|mindepth|maxdepth|xdev|depth|mount)( [a-z0-9]+)?)* -delete( .*)?/",
 "/rsync (.* )?--del[a-z-]*( .*)? " + T + "/",
 "/git rm (.* )?(-r|-rf|-fr|-[a-z]*r[a-z]*)( .*)? (\\.|\\*|:/)( .*)?/",
)
rule("delete-above", "ask", "this deletes outside of the folder it runs in",
 "/(rm|rmdir|unlink|shred|rimraf) (.* )?\\.\\./[^ ]*( .*)?/",
)
rule("delete-by-code", "block", "this deletes what is not the project's, or all of the project",
 r"""/(python|pypy|ipython|perl|ruby|node|nodejs|bun|deno|tsx|php|lua|Rscript|julia)[0-9.]* .*(rmtree|remove_tree|rm_rf|rm_r|rmSync|rmdirSync|rm|rmdir|removeSync|remove|unlink|unlinkSync|remove_dir_all|Path)[ (]+["'](/|~|\.|/[^/ "']+|/(home|Users|etc|usr|var|root)/[^"']*|\.\.[^"']*)["'].*/""",
 r"""/(python|pypy|ipython|perl|ruby|node|nodejs|bun|deno|tsx|php|lua|Rscript|julia)[0-9.]* .*(rmtree|remove_tree|rm_rf|rm_r|rmSync|rmdirSync|rm|removeSync|remove|unlink)[ (]+.*(expanduser|HOME|Path\.home|Dir\.home|homedir|listdir|glob|rglob).*/""",
)
rule("overwrite-disk", "block", "this overwrites a disk, or what the system needs",
 "/dd (.* )?of=" + DEV + "( .*)?/",
 "/(mkfs[a-z0-9.]*|mke2fs|mkswap|wipefs|blkdiscard|fdisk|sfdisk|cfdisk|parted|gdisk|sgdisk|badblocks|lvremove|vgremove|pvremove|zpool (destroy|labelclear)|zfs destroy|mdadm --(zero-superblock|stop|remove)|cryptsetup (luksFormat|erase|luksErase)|hdparm .*--security-erase|diskutil (erase|partition|secureErase|zeroDisk|reformat)|format [a-zA-Z]:|tmutil delete)( ?[^ ].*)?/",
 "/(cp|mv|install|tee|shred|truncate|ln|tar|rsync|sed|perl|ruby|sponge) (.* )?" + S + "/",
 "/(tee|sed|perl|truncate|shred|sponge) (.* )?" + S + "( .*)?/",
 "/(tar|unzip|bsdtar|cpio) (.* )?(-C|-d|--directory) ?=?/( .*)?/",
 "/find (.* )?-(fprint|fprintf|fls|fprint0) /dev/.*/",
 "/>{1,2} " + S + "/",
)
rule("rights", "block", "this opens up, or takes away, the rights of everything",
 "/(chmod|chown|chgrp|setfacl|chattr|icacls) (.* )?(-[a-zA-Z]*R[a-zA-Z]*|--rec[a-z]*) (.* )?" + T + "( .*)?/",
 "/(chmod|chown|chgrp|setfacl|chattr|icacls) (.* )?" + T + " (.* )?(-[a-zA-Z]*R[a-zA-Z]*|--rec[a-z]*)( .*)?/",
 "/(chmod|chown|chgrp|setfacl|chattr) (.* )?" + S + "( .*)?/",
 "/chmod (.* )?([ugoa]*\\+[rwx]*s[rwxt]*|[246][0-7]{3})( .*)?/",
 "/setcap .*/", "/icacls .*Everyone.*/",
 "/find (.* )?" + T + "( .*)? -exec(dir)? (chmod|chown) .*/",
)
rule("machine", "block", "this stops the machine, or takes away its guards, users or network",
 "/(shutdown|reboot|halt|poweroff|telinit|visudo|vipw|userdel|deluser|groupdel|useradd|adduser|usermod|chpasswd|swapoff|insmod|rmmod|setenforce)( .*)?/",
 "init 0", "init 6", "crontab -r", "/crontab (.* )?-r( .*)?/", "/crontab (-u [^ ]+ )?[^- ][^ ]*/", "/crontab -/",
 "/modprobe (.* )?-r.*/",
 "/systemctl (.* )?(poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|stop|disable|mask|isolate)( .*)?/",
 "/(service|rc-service) [^ ]+ stop/", "/loginctl (terminate|kill).*/",
 "/> /proc/sysrq-trigger/", "/tee (.* )?/proc/sysrq-trigger/", "/sysctl (.* )?(-w|--write) .*/",
 "/(iptables|ip6tables) (.* )?(-F|--flush|-X|-P)( .*)?/", "/nft (.* )?flush.*/", "/ufw (.* )?(disable|reset)( .*)?/",
 "/ip (.* )?(link|addr|address|route|rule) (.* )?(down|flush|del|delete)( .*)?/", "/ifconfig [^ ]+ down/",
 "/passwd (.* )?(-d|-l|--delete|--lock)( .*)?/",
 "/kill (.* )?(-1|1)( .*)?/", "/killall (.* )?(-u|--user) .*/", "/pkill (.* )?(-u|-U|--euid|--uid) .*/", "/pkill (.* )?-f \\./",
 "/umount (.* )?(-a|--all)( .*)?/",
 "history -c", "unset HISTFILE", "/(export )?HISTFILE=.*/",
 "/(apt|apt-get|aptitude|dnf|yum|zypper|apk) (.* )?(purge|remove|autoremove|erase|del)( .*)? (linux-.*|libc6.*|glibc.*|systemd.*|bash|coreutils|apt|dpkg|rpm|sudo|kernel.*|python3)/",
 "/dpkg (.* )?(--force-[a-z]+).*/", "/rpm (.* )?(-e|--erase) (.* )?--nodeps.*/", "/pacman (.* )?-R[a-z]*d[a-z]*.*/",
)
rule("fork-bomb", "block", "this is a fork bomb", "/.*\\(\\) *\\{ *([^ |&]+) *[|&] *[^ |&]+ *&? *\\}.*/")
rule("foreign-shell", "ask", "a shell, or a door for one, is opened to another machine",
 "/.*/dev/(tcp|udp)/.*/", "/(nc|ncat|netcat) (.* )?(-e|-c|--exec|--sh-exec|-[a-z]*e) .*/", "/socat (.* )?(?i:exec|system):.*/",
)
rule("forced-push", "block", "this overwrites, or takes away, what others have",
 "/git push (.* )?(-[a-zA-Z]*[fd][a-zA-Z]*|--f[a-z-]*(=.*)?|--mirror|--prune|--del[a-z]*)( .*)?/",
 "/git push (.* )?[+:][^ ]*( .*)?/",
 "/git (filter-branch|filter-repo|reflog (expire|delete)|update-ref|symbolic-ref (.* )?-d)( .*)?/",
 "/git gc (.* )?--prune=(now|all).*/", "/git prune (.* )?--expire.*/",
 "/gh (repo delete|release delete|repo sync .*--force|api .*(-X|--method)[ =]?(DELETE|PUT)).*/", "/gh pr merge (.* )?(--admin|--auto)( .*)?/",
)
rule("throws-away", "ask", "work that is not committed, or only in this checkout, is lost",
 "/git reset (.* )?--h[a-z]*( .*)?/",
 "/git checkout (.* )?(-f|--force|--f[a-z]*)( .*)?/", "/git checkout (.* )?(\\.|:/|\\*)( .*)?/",
 "/git switch (.* )?(-f|--force|--discard-changes)( .*)?/",
 "/git restore (.* )?(\\.|:/|\\*)( .*)?/",
 "/git clean (.* )?(-[a-zA-Z]*f[a-zA-Z]*|--force)( .*)?/", "/git .*clean\\.requireForce=.*/",
 "/git stash (drop|clear)( .*)?/",
 "/git branch (.* )?(-[a-zA-Z]*[DfM][a-zA-Z]*|--force)( .*)?/",
 "/git tag (.* )?(-d|--delete)( .*)?/", "/git worktree remove (.* )?(-f|--force)( .*)?/",
 "/git rebase (.* )?--root( .*)?/", "/git remote (remove|rm) .*/",
)
rule("databases", "block", "this takes away data",
 r"/(psql|mysql|mariadb|cockroach|clickhouse-client|clickhouse|bq|duckdb|pgcli|mycli|sqlcmd) (.*[ =])?(-c|-e|-q|-Q|--command|--execute|--query|<|.*;)[ =]?\s*(?i:(drop|truncate|alter)\b.*|drop/.*|delete\s+from\s+[^ ;]+\s*(;.*|where\s+(true|1).*)?|update\s+[^ ;]+\s+set\s+[^;]*)/",
 r"/(sqlite3|duckdb)( -[^ ]+)* [^ ]+ (< )?(.*;)?\s*(?i:(drop|truncate)\b.*|delete\s+from\s+[^ ;]+\s*(;.*)?)/",
 "/(dropdb|dropuser)( .*)?/", "/mysqladmin (.* )?drop.*/",
 "/(mongosh|mongo) .*(dropDatabase|\\.drop\\(|deleteMany\\(|remove\\().*/",
 "/redis-cli (.* )?(?i:flushall|flushdb)( .*)?/", "/redis-cli (.* )?--eval .*/", "/bq rm .*/",
 "/(bundle exec )?(rails|rake|bin/rails) (.* )?db:(drop|reset|purge)[^ ]*( .*)?/",
 "/(python3? )?([^ ]*/)?manage\\.py flush.*/", "/(npx |pnpm |yarn |bunx )?prisma (migrate reset|db push .*--force-reset).*/",
 "/(php )?artisan (migrate:(fresh|reset)|db:wipe).*/", "/(npx )?sequelize(-cli)? db:drop.*/", "/alembic downgrade .*/",
)
rule("infrastructure", "block", "this takes away machines, services or data that others use",
 "/(terraform|tofu|terragrunt) (.* )?(destroy|destroy-all)( .*)?/", "/(terraform|tofu|terragrunt) (.* )?apply (.* )?-?-destroy.*/",
 "/(terraform|tofu|terragrunt) (.* )?(state rm|workspace delete|force-unlock).*/",
 "/pulumi (.* )?(destroy|stack rm).*/", "/cdk (.* )?destroy.*/", "/(sls|serverless) (.* )?remove.*/",
 "/(kubectl|oc|k3s kubectl|microk8s kubectl) (.* )?(delete|drain) [^-].*/", "/(kubectl|oc|k3s kubectl) (.* )?(delete|drain) -[^h-].*/", "/(kubectl|oc) (.* )?delete --[^h].*/",
 "/(kubectl|oc|k3s kubectl) (.* )?(scale .*--replicas=0|replace .*--force|apply .*--prune).*/",
 "/helm (.* )?(uninstall|delete|del|rollback) .*/", "/(minikube|kind|eksctl|k3d) (.* )?delete.*/", "/(argocd|flux) (.* )?delete.*/", "/nomad (.* )?(stop|delete).*/",
 "/docker (.* )?(system|volume|container|image|network|builder) prune( .*)?/", "/docker volume (rm|remove) .*/", "/docker (rm|kill|stop|container rm) .*/", "/docker (.* )?rmi (.* )?(-f|--force)( .*)?/",
 "/docker(-compose| compose) (.* )?down (.* )?(-v|--volumes)( .*)?/", "/docker swarm leave.*/", "/docker run (.* )?(--privileged|-v /:|--volume[ =]/:).*/",
 "/podman (system reset|.*prune|run (.* )?(--privileged|-v /:).*).*/",
 "/aws (.* )?(s3 (rm|rb)|s3 sync .*--delete|[a-z0-9-]+ (delete|terminate|remove)-[a-z-]+).*/",
 "/(gsutil|s3cmd|mc) (.* )?(rm|rb|del) .*/", "/gcloud (.* )?(delete|rm)( .*)?/", "/az (.* )?delete( .*)?/", "/doctl (.* )?delete.*/",
 "/heroku (.*:)?(apps:destroy|pg:reset|destroy).*/", "/(fly|flyctl) (.* )?destroy.*/", "/(vercel|netlify|wrangler|firebase|supabase) (.* )?(remove|rm|[a-z]+:delete|delete|firestore:delete|db reset).*/",
 "/rclone (purge|delete|sync|deletefile) .*/", "/ansible (.* )?(-a|--args).*(state=absent|rm ).*/", "/vault (.* )?(disable|delete|destroy).*/", "/(consul|etcdctl) (.* )?(delete|del).*/",
 "/velero (.* )?delete.*/", "/restic forget.*/", "/borg (delete|prune).*/",
)
rule("push-main", "block", "a person pushes to the main branch",
 "/git push (.* )?([^ ]*[:+/])?(main|master|trunk)( .*)?/", 
 "/git push (.* )?(--all|--branches|--mirror)( .*)?/", "/git push (.* )?[^ ]*refs/heads/\\*[^ ]*( .*)?/", "/git push [^ ]+ :/",
 "/git (send-pack|subtree push|lfs push|svn dcommit)( .*)?/", "/git-push( .*)?/", "/(hub|jj git|gh|glab) (push|.*merge [0-9]+).*/",
)
rule("push-somewhere", "ask", "where this pushes to only shows when it runs",
 "/git push( -[^ ]+)*( [^ :+]+)?/", "/git push (.* )?(HEAD|@)( .*)?/",
)
out = ["rules:"]
def q(s): return "'" + s.replace("'", "''") + "'"
for name, action, reason, patterns in rules:
    out.append(f"  - name: {name}")
    out.append("    events: [tool-call-start]")
    out.append("    match:")
    out.append("      command:")
    for p in patterns: out.append("        - " + q(p))
    out.append(f"    reply: {{ action: {action}, reason: {q(reason)} }}")
open("dangerous-commands.rules.yaml", "w").write("\n".join(out) + "\n")
