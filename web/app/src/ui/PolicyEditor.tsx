import type { PolicyRule } from '@majlis/client'

import { Button, IconButton } from './Button.tsx'
import { Close } from './icons.tsx'

const VERDICTS: Record<PolicyRule['do'], string> = { allow: 'may be used', ask: 'needs a person’s yes', deny: 'may not be used' }

/** Which tools may be used: rules by name, of which the first that fits decides. */
export function PolicyEditor({ rules, disabled, onChange }: { rules: readonly PolicyRule[]; disabled: boolean; onChange: (rules: PolicyRule[]) => void }) {
  if (disabled && rules.length === 0) return null
  const change = (n: number, part: Partial<PolicyRule>) => onChange(rules.map((rule, m) => (m === n ? { ...rule, ...part } : rule)))
  return (
    <fieldset disabled={disabled} className="space-y-2">
      <legend className="mb-1 text-small text-ink-soft">Tools: the first rule that fits decides; without one they may be used</legend>
      {rules.map((rule, n) => (
        <div key={n} className="flex items-center gap-2">
          <input aria-label={`Tools of rule ${n + 1}`} value={rule.tools} placeholder="deploy, web_*" required className="field font-mono text-small" onChange={(event) => change(n, { tools: event.target.value })} />
          <select aria-label={`What rule ${n + 1} says`} value={rule.do} className="field w-auto text-small" onChange={(event) => change(n, { do: event.target.value as PolicyRule['do'] })}>
            {Object.entries(VERDICTS).map(([value, words]) => <option key={value} value={value}>{words}</option>)}
          </select>
          <IconButton label={`Remove rule ${n + 1}`} className="size-8" onClick={() => onChange(rules.filter((_, m) => m !== n))}><Close className="size-4" /></IconButton>
        </div>
      ))}
      {!disabled && <Button onClick={() => onChange([...rules, { tools: '', do: 'ask' }])}>Add a rule</Button>}
    </fieldset>
  )
}
