import type { SpaceState, Triggers } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { go } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { PolicyEditor } from '../../ui/PolicyEditor.tsx'

const TRIGGERS: Record<Triggers, string> = {
  everyone: 'All agents',
  mentioned: 'Only agents you @mention',
  orchestrated: 'One agent, the orchestrator, decides who responds',
}

export function SpaceSettings({ space }: { space: SpaceState }) {
  const store = useStore()
  const me = useMe()!
  const { facts, members } = space
  const [result, setResult] = useState<{ bad: boolean; text: string } | null>(null)
  const fail = (error: unknown) => setResult({ bad: true, text: (error as Error).message })
  const [toolPolicy, setToolPolicy] = useState([...facts.toolPolicy])
  const admin = members.find((member) => member.id === me.id)?.role === 'admin'
  const change = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const triggers = String(form.get('triggers')) as Triggers
    const orchestratorId = triggers === 'orchestrated' ? String(form.get('orchestratorId') ?? '') || null : null
    try {
      await store.client.spaces.change(facts.id, { name: String(form.get('name')).trim(), description: String(form.get('description')).trim(), triggers, orchestratorId, toolPolicy })
      setResult({ bad: false, text: 'Saved' })
    } catch (error) {
      fail(error)
    }
  }
  const remove = () => store.client.spaces.delete(facts.id).then(() => go('/'), fail)
  const leave = () => store.client.spaces.remove(facts.id, me.id).then(() => go('/'), fail)
  return (
    <form className="space-y-4 text-small" onSubmit={(event) => void change(event)}>
      <label className="block"><span className="mb-1 block text-ink-soft">Name</span><input name="name" required maxLength={64} defaultValue={facts.name} disabled={!admin} className="field" /></label>
      <label className="block"><span className="mb-1 block text-ink-soft">Description (optional)</span><textarea name="description" rows={2} defaultValue={facts.description} disabled={!admin} className="field" /></label>
      <fieldset disabled={!admin} className="space-y-1">
        <legend className="mb-1 text-ink-soft">Which agents respond</legend>
        {Object.entries(TRIGGERS).map(([value, name]) => (
          <label key={value} className="flex items-center gap-2"><input type="radio" name="triggers" value={value} defaultChecked={facts.triggers === value} className="accent-warm" />{name}</label>
        ))}
        <label className="block pt-1">
          <span className="mb-1 block text-ink-soft">Orchestrator</span>
          <select name="orchestratorId" defaultValue={facts.orchestratorId ?? ''} className="field">
            <option value="">None</option>
            {members.filter((member) => member.type === 'agent').map((member) => <option key={member.id} value={member.id}>{member.name}</option>)}
          </select>
        </label>
      </fieldset>
      <PolicyEditor rules={toolPolicy} disabled={!admin} onChange={setToolPolicy} />
      {facts.phase && <p>Phase: <b className="font-semibold">{facts.phase}</b></p>}
      <p role="status" className={`min-h-5 ${result?.bad ? 'text-bad' : 'text-ink-soft'}`}>{result?.text}</p>
      {!admin && (
        <div className="flex items-center justify-between gap-3">
          <p className="text-ink-soft">Only space admins can change these settings.</p>
          <ConfirmButton look="plain" label="Leave space" confirm="Yes, leave space" onConfirm={() => void leave()} />
        </div>
      )}
      {admin && (
        <div className="flex justify-between">
          <Button look="primary" type="submit">Save</Button>
          <ConfirmButton label="Delete space" confirm="Yes, delete space and messages" onConfirm={() => void remove()} />
        </div>
      )}
    </form>
  )
}
