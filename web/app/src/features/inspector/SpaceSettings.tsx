import type { SpaceState, Triggers } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { rich, t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { PauseButton } from '../../ui/PauseButton.tsx'
import { PolicyEditor } from '../../ui/PolicyEditor.tsx'
import { TRIGGERS } from '../spaces/triggers.ts'

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
      const fixed = facts.direct ? {} : { name: String(form.get('name')).trim(), triggers, orchestratorId }
      await store.client.spaces.change(facts.id, { ...fixed, description: String(form.get('description')).trim(), summaries: form.has('summaries') ? 'on' : 'off', toolPolicy })
      setResult({ bad: false, text: t('Saved') })
    } catch (error) {
      fail(error)
    }
  }
  const remove = () => store.client.spaces.delete(facts.id).then(() => go('/'), fail)
  const leave = () => store.client.spaces.remove(facts.id, me.id).then(() => go('/'), fail)
  return (
    <form className="space-y-4 text-small" onSubmit={(event) => void change(event)}>
      {!facts.direct && <label className="block"><span className="mb-1 block text-ink-soft">{t('Name')}</span><input name="name" required maxLength={64} defaultValue={facts.name} disabled={!admin} className="field" /></label>}
      <label className="block"><span className="mb-1 block text-ink-soft">{t('Description (optional)')}</span><textarea name="description" rows={2} defaultValue={facts.description} disabled={!admin} className="field" /></label>
      {!facts.direct && <fieldset disabled={!admin} className="space-y-1">
        <legend className="mb-1 text-ink-soft">{t('Which agents respond')}</legend>
        {Object.entries(TRIGGERS).map(([value, name]) => (
          <label key={value} className="flex items-start gap-2"><input type="radio" name="triggers" value={value} defaultChecked={facts.triggers === value} className="mt-1 accent-link" />{t(name)}</label>
        ))}
        <label className="block pt-1">
          <span className="mb-1 block text-ink-soft">{t('Orchestrator')}</span>
          <select name="orchestratorId" defaultValue={facts.orchestratorId ?? ''} className="field">
            <option value="">{t('None')}</option>
            {members.filter((member) => member.type === 'agent').map((member) => <option key={member.id} value={member.id}>{member.name}</option>)}
          </select>
        </label>
      </fieldset>}
      <label className="flex items-center gap-2"><input type="checkbox" name="summaries" defaultChecked={facts.summaries === 'on'} disabled={!admin} className="accent-link" />{t('Summarize older messages for agents')}</label>
      <PolicyEditor rules={toolPolicy} disabled={!admin} onChange={setToolPolicy} />
      {facts.phase && <p>{rich('Phase: {phase}', { phase: <b className="font-semibold">{facts.phase}</b> })}</p>}
      {admin && <PauseButton paused={facts.paused} label={t('Pause agents in this space')} resumeLabel={t('Resume agents in this space')} onPause={() => store.client.spaces.pause(facts.id)} onResume={() => store.client.spaces.resume(facts.id)} />}
      <p role="status" className={`min-h-5 ${result?.bad ? 'text-bad' : 'text-ink-soft'}`}>{result?.text}</p>
      {!admin && (
        <div className="flex items-center justify-between gap-3">
          <p className="text-ink-soft">{t('Only space admins can change these settings.')}</p>
          {!facts.direct && <ConfirmButton look="plain" label={t('Leave space')} confirm={t('Yes, leave space')} onConfirm={() => void leave()} />}
        </div>
      )}
      {admin && (
        <div className="flex justify-between">
          <Button look="primary" type="submit">{t('Save')}</Button>
          <ConfirmButton label={t('Delete space')} confirm={t('Yes, delete space and messages')} onConfirm={() => void remove()} />
        </div>
      )}
    </form>
  )
}
