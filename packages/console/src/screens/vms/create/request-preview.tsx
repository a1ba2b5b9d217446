import { CodeBlock } from '../../../components/code-block.tsx';
import { Panel } from '../../../components/panel.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { renderCli, renderCurl, renderSdk } from './render-request.ts';
import type { CreateVmBody } from './vm-draft.ts';

type RequestPreviewProps = {
  body: CreateVmBody;
  projectId: string;
  /** What the request refers to by id: networks, disks, reserved addresses. */
  things: { id: string; name: string }[];
};

/** The request that the form sends, for people who want to automate it. */
export function RequestPreview({ body, projectId, things }: RequestPreviewProps) {
  const names = new Map(things.map(({ id, name }) => [id, name]));
  const place = { origin: location.origin, projectId, names };
  const named = { ...body, name: body.name || 'NAME' };
  return (
    <Panel title="The same request">
      <Tabs
        label="The same request"
        tabs={[
          {
            id: 'cli',
            label: 'CLI',
            content: <CodeBlock label="command" text={renderCli(named, place)} />,
          },
          {
            id: 'curl',
            label: 'curl',
            content: <CodeBlock label="command" text={renderCurl(named, place)} />,
          },
          {
            id: 'sdk',
            label: 'SDK',
            content: <CodeBlock label="program" text={renderSdk(named, place)} />,
          },
        ]}
      />
    </Panel>
  );
}
