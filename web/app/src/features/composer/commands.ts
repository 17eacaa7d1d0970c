/** Commands that are typed as `/name`. Text that is not a command is sent as it is. */
import type { SpaceState, Store } from '@majlis/client'

import { msg, t } from '../../language/words.ts'
import { go, inspect } from '../../router.ts'
import { toast } from '../../ui/toast.tsx'
import { openDirect } from '../spaces/openDirect.ts'
import { changePreferences, toggled } from '../spaces/preferences.ts'

export interface Command {
  name: string
  about: string
  /** Shown after the name, if the command needs a text. */
  argument?: string
  run: (store: Store, space: SpaceState, argument: string) => void | Promise<unknown>
}

const toggle = (list: 'pinned' | 'muted' | 'archived'): Command['run'] => ({ state }, { facts }) =>
  changePreferences(state.me!.id, (before) => ({ ...before, [list]: toggled(before[list], facts.id) }))

export const COMMANDS: readonly Command[] = [
  { name: 'members', about: msg('Show the members'), run: () => inspect({ kind: 'members' }) },
  { name: 'files', about: msg('Show the files of this space'), run: () => inspect({ kind: 'files' }) },
  { name: 'pins', about: msg('Show the pinned messages'), run: () => inspect({ kind: 'pins' }) },
  { name: 'runs', about: msg('Show what the agents did'), run: () => inspect({ kind: 'runs' }) },
  { name: 'settings', about: msg('Open the settings of this space'), run: () => inspect({ kind: 'settings' }) },
  { name: 'message', argument: msg('name'), about: msg('Write to a member directly'), run: message },
  { name: 'stop', about: msg('Stop the agents that are working here'), run: stop },
  { name: 'pause', about: msg('Pause the agents in this space'), run: (store, { facts }) => store.client.spaces.pause(facts.id).then(() => toast(t('Agents are paused here'))) },
  { name: 'resume', about: msg('Resume the agents in this space'), run: (store, { facts }) => store.client.spaces.resume(facts.id).then(() => toast(t('Agents in this space are active again'))) },
  { name: 'mute', about: msg('Mute or unmute this space'), run: toggle('muted') },
  { name: 'pin', about: msg('Pin or unpin this space'), run: toggle('pinned') },
  { name: 'archive', about: msg('Archive or unarchive this space'), run: toggle('archived') },
  { name: 'home', about: msg('Go to Home'), run: () => go('/') },
]

export const foundCommands = (typed: string): Command[] => COMMANDS.filter(({ name }) => name.startsWith(typed)).toSorted((a, b) => Number(b.name === typed) - Number(a.name === typed))

/** The command in the text, with its argument. */
export function commandOf(text: string): { command: Command; argument: string } | null {
  const [, name, argument = ''] = /^\/([a-z]+)(?:\s+(.*))?$/.exec(text.trim()) ?? []
  const command = COMMANDS.find((each) => each.name === name)
  if (!command || Boolean(command.argument) !== (argument !== '')) return null
  return { command, argument }
}

async function message(store: Store, space: SpaceState, name: string): Promise<void> {
  const wanted = name.replace(/^@/, '').toLocaleLowerCase()
  const member = space.members.find((each) => each.name.toLocaleLowerCase() === wanted)
  if (!member) return toast(t('No member here is called {name}', { name }))
  await openDirect(store, member.id)
}

async function stop(store: Store, { facts }: SpaceState): Promise<void> {
  const working = Object.values(store.state.agents.working).filter((run) => run.spaceId === facts.id)
  if (working.length === 0) return toast(t('No agent is working here'))
  await Promise.all(working.map((run) => store.client.runs.cancel(run.runId)))
}
