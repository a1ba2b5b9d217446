import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';

/** The pages behind a billing link. The `html` tag escapes every value. */

const STYLE = `
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; background: #f4f5f7 }
main { box-sizing: border-box; max-width: 30rem; margin: 0 auto; padding: 2rem 1.25rem; background: #fff; min-height: 100vh }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere }
label { display: block; margin-top: 1.25rem; font-weight: 600 }
input { box-sizing: border-box; width: 100%; padding: .7rem; margin-top: .25rem; font: inherit; border: 1px solid #6b7280; border-radius: .4rem }
input[aria-invalid] { border: 2px solid #b42318 }
.error { margin: .25rem 0 0; color: #b42318 }
button { width: 100%; margin-top: 1.75rem; padding: .8rem; font: inherit; font-weight: 600; color: #fff; background: #1f4ed8; border: 0; border-radius: .4rem }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * The page loads and runs nothing. The link is a secret, so browsers must not store or forward it.
 */
export const PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export type Html = ReturnType<typeof html>;

export function layout(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
}

export type FormState = {
  organization: string;
  values: { holder?: string; email?: string };
  /** The problem of each field that has one. */
  errors: { holder?: string | undefined; email?: string | undefined };
};

export function formPage({ organization, values, errors }: FormState): Html {
  return layout(
    `Payment method of ${organization}`,
    html`<p>Payment is by invoice. Enter who receives the invoices of ${organization}. After that, ${organization}
can use the whole API. What you enter replaces the previous entry.</p>
<p>This page does not ask for card or bank details.</p>
<form method="post">
${field({ name: 'holder', label: 'Account holder', type: 'text', autocomplete: 'organization', value: values.holder ?? '', error: errors.holder })}
${field({ name: 'email', label: 'Billing e-mail', type: 'email', autocomplete: 'email', value: values.email ?? '', error: errors.email })}
<button type="submit">Save</button>
</form>`,
  );
}

type Field = {
  name: string;
  label: string;
  type: string;
  autocomplete: string;
  value: string;
  error: string | undefined;
};

function field({ name, label, type, autocomplete, value, error }: Field): Html {
  const invalid = error && html` aria-invalid="true" aria-describedby="${name}-error"`;
  const note = error && html`<p class="error" id="${name}-error">${label}: ${error}</p>`;
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="254" required value="${value}"${invalid ?? ''}>
${note ?? ''}`;
}

export function donePage(organization: string): Html {
  return layout(
    'Done',
    html`<p>${organization} has a payment method now and can use the whole API. You can close this page.</p>`,
  );
}

export function refusalPage(title: string, advice: string): Html {
  return layout(title, html`<p>${advice}</p>`);
}
