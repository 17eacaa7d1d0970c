import type { SpaceState, Triggers } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { go } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { PolicyEditor } from '../../ui/PolicyEditor.tsx'

const TRIGGERS: Record<Triggers, string> = {
  everyone: 'Every agent, with every message',
  mentioned: 'Only agents that are called with @',
  orchestrated: 'One agent that decides who answers',
}

/** The space itself: its name, what it is for, and whom a message wakes. */
export function SpaceSettings({ space }: { space: SpaceState }) {
  const store = useStore()
  const me = useMe()!
  const { facts, members } = space
  const [said, setSaid] = useState<{ bad: boolean; words: string } | null>(null)
  const refused = (error: unknown) => setSaid({ bad: true, words: (error as Error).message })
  const [sure, setSure] = useState(false)
  const [toolPolicy, setToolPolicy] = useState([...facts.toolPolicy])
  const admin = members.find((member) => member.id === me.id)?.role === 'admin'
  const change = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const triggers = String(form.get('triggers')) as Triggers
    const orchestratorId = triggers === 'orchestrated' ? String(form.get('orchestratorId') ?? '') || null : null
    try {
      await store.client.spaces.change(facts.id, { name: String(form.get('name')).trim(), description: String(form.get('description')).trim(), triggers, orchestratorId, toolPolicy })
      setSaid({ bad: false, words: 'Saved.' })
    } catch (error) {
      refused(error)
    }
  }
  const remove = () => store.client.spaces.delete(facts.id).then(() => go('/'), refused)
  const leave = () => store.client.spaces.remove(facts.id, me.id).then(() => go('/'), refused)
  return (
    <form className="space-y-4 text-small" onSubmit={(event) => void change(event)}>
      <label className="block"><span className="mb-1 block text-ink-soft">Name</span><input name="name" required maxLength={64} defaultValue={facts.name} disabled={!admin} className="field" /></label>
      <label className="block"><span className="mb-1 block text-ink-soft">What it is for</span><textarea name="description" rows={2} defaultValue={facts.description} disabled={!admin} className="field" /></label>
      <fieldset disabled={!admin} className="space-y-1">
        <legend className="mb-1 text-ink-soft">Whom a message wakes</legend>
        {Object.entries(TRIGGERS).map(([value, words]) => (
          <label key={value} className="flex items-center gap-2"><input type="radio" name="triggers" value={value} defaultChecked={facts.triggers === value} className="accent-warm" />{words}</label>
        ))}
        <label className="block pt-1">
          <span className="mb-1 block text-ink-soft">Who decides, if one does</span>
          <select name="orchestratorId" defaultValue={facts.orchestratorId ?? ''} className="field">
            <option value="">Nobody</option>
            {members.filter((member) => member.type === 'agent').map((member) => <option key={member.id} value={member.id}>{member.name}</option>)}
          </select>
        </label>
      </fieldset>
      <PolicyEditor rules={toolPolicy} disabled={!admin} onChange={setToolPolicy} />
      {facts.phase && <p>Phase: <b className="font-semibold">{facts.phase}</b></p>}
      <p role="status" className={`min-h-5 ${said?.bad ? 'text-bad' : 'text-ink-soft'}`}>{said?.words}</p>
      {!admin && (
        <div className="flex items-center justify-between gap-3">
          <p className="text-ink-soft">Only admins of this space change it.</p>
          {sure ? <Button look="bad" onClick={() => void leave()}>Really leave it</Button> : <Button onClick={() => setSure(true)}>Leave the space</Button>}
        </div>
      )}
      {admin && (
        <div className="flex justify-between">
          <Button look="primary" type="submit">Save</Button>
          {sure ? <Button look="bad" onClick={() => void remove()}>Delete it with all that was said</Button> : <Button look="bad" onClick={() => setSure(true)}>Delete the space</Button>}
        </div>
      )}
    </form>
  )
}
