import { Button } from '../../ui/Button.tsx'
import type { ControlProps } from './Card.tsx'
import { propertiesOf } from './formSchema.ts'

export function Choice({ tool, busy, onAnswer }: ControlProps) {
  const options = propertiesOf(tool.resultSchema)['choice']?.enum ?? []
  return (
    <div className="mt-3 flex flex-wrap gap-2">
      {options.map((option) => (
        <Button key={String(option)} disabled={busy} onClick={() => onAnswer({ choice: option })}>{String(option)}</Button>
      ))}
    </div>
  )
}
