# shellcheck shell=bash
# Which node hangs on which leaf. The bridges, topology.conf and `status` all follow from leaf_of, so Slurm is
# never told another wiring than the one that is there.

# leaf_of I: the number of the leaf that node I is joined to.
leaf_of() {
  local share=$(((nodes + leaves - 1) / leaves))
  case $placement in
    interleaved) echo $((($1 - 1) % leaves + 1)) ;;
    block) echo $((($1 - 1) / share + 1)) ;;
  esac
}

# nodes_of_leaf L: comma-separated names.
nodes_of_leaf() {
  local i list=
  for ((i = 1; i <= nodes; i++)); do
    [[ $(leaf_of "$i") != "$1" ]] || list+=,n$i
  done
  echo "${list#,}"
}

# With two leaves the bridges are joined directly; the spine in topology.conf is then only the parent that Slurm's
# tree needs.
topology_conf() {
  local leaf
  for ((leaf = 1; leaf <= leaves; leaf++)); do
    echo "SwitchName=leaf$leaf Nodes=$(nodes_of_leaf "$leaf")"
  done
  ((leaves == 1)) || echo "SwitchName=spine Switches=leaf[1-$leaves]"
}

# Switch ports that carry traffic between leaves.
uplink_ports() {
  local leaf
  ((leaves > 1)) || return 0
  for ((leaf = 1; leaf <= leaves; leaf++)); do
    echo "up$leaf"
    ((leaves == 2)) || echo "dn$leaf"
  done
}

# Input of `ip -batch` that makes bridges and uplinks.
bridge_commands() {
  local leaf bridge bridges=(mgmt)
  for ((leaf = 1; leaf <= leaves; leaf++)); do bridges+=("leaf$leaf"); done
  ((leaves <= 2)) || bridges+=(spine)
  echo "link set lo up"
  for bridge in "${bridges[@]}"; do
    printf 'link add %s type bridge mcast_snooping 0\nlink set %s up\n' "$bridge" "$bridge"
  done
  if ((leaves == 2)); then
    printf '%s\n' "link add up1 type veth peer name up2" "link set up1 master leaf1 up" "link set up2 master leaf2 up"
  elif ((leaves > 2)); then
    for ((leaf = 1; leaf <= leaves; leaf++)); do
      printf '%s\n' "link add up$leaf type veth peer name dn$leaf" \
        "link set up$leaf master leaf$leaf up" "link set dn$leaf master spine up"
    done
  fi
}
