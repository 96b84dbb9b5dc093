-- A database as 00002_contracts.sql left it, with rows in every table. Alice shares a folder with Bob, who has put a file
-- of his own into it; she has a template, and documents made from it. Her token is "a token of long ago".
INSERT INTO settings (name, value) VALUES
    ('contents', 'THEBLOBSTOREOFTHEOLDSERVER'),
    ('marker_key', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='),
    ('tree', '');

INSERT INTO enterprises (id, name, created_at) VALUES (1, 'Platen', 1000000);

INSERT INTO users (id, enterprise_id, login, login_key, name, kind, role, status, root_folder_id, created_at, modified_at) VALUES
    (11, 1, 'Alice@example.com', '616c696365406578616d706c652e636f6d', 'Alice Ä.', 'managed', 'admin', 'active', 21, 1000000, 2000000),
    (12, 1, 'bob@example.com', '626f62406578616d706c652e636f6d', 'Bob', 'managed', 'user', 'inactive', 22, 1000000, 1000000),
    (13, 1, 'robot', '726f626f74', 'Robot', 'service', 'user', 'active', 23, 1000000, 1000000);

INSERT INTO applications (id, enterprise_id, name, name_key, scopes, service_account_id, created_at) VALUES
    (2, 1, 'Command line', '636f6d6d616e64206c696e65', 'root_readonly root_readwrite docgen.readwrite', NULL, 1000000),
    (3, 1, 'Robot', '726f626f74', 'docgen.readwrite', 13, 1000000);

INSERT INTO tokens (id, hash, user_id, application_id, scopes, created_at, expires_at) VALUES
    (4, '94fd32f209709ac32d079fd41d5199b838fb006df6c57b3f3fc2f081cfaa2731', 11, 2, 'root_readwrite docgen.readwrite', 1000000, 0),
    (5, 'no digest of anything', 13, 3, 'docgen.readwrite', 1000000, 2000000);

INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number, size, sha1,
                   created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by) VALUES
    (21, 0, NULL, 11, 'All Files', '616c6c2066696c6573', '', 0, 0, 0, 0, '', 1000000, 11, 1000000, 11, 1000000, 1000000, 0, 0),
    (22, 0, NULL, 12, 'All Files', '616c6c2066696c6573', '', 0, 0, 0, 0, '', 1000000, 12, 1000000, 12, 1000000, 1000000, 0, 0),
    (23, 0, NULL, 13, 'All Files', '616c6c2066696c6573', '', 0, 0, 0, 0, '', 1000000, 13, 1000000, 13, 1000000, 1000000, 0, 0),
    (31, 0, 21, 11, 'Shared', '736861726564', 'with Bob', 3, 0, 0, 0, '', 1000000, 11, 2000000, 11, 1000000, 1000000, 0, 0),
    (32, 0, 31, 12, 'Bob''s', '626f622773', '', 1, 0, 0, 0, '', 1000000, 12, 1000000, 12, 1000000, 1000000, 0, 0),
    (41, 1, 31, 11, 'Letter.docx', '6c65747465722e646f6378', '', 1, 52, 2, 9, 'b', 1000000, 11, 2000000, 11, 1000000, 2000000, 0, 0),
    (42, 1, 32, 12, 'Notes.txt', '6e6f7465732e747874', '', 0, 53, 1, 7, 'c', 1000000, 12, 1000000, 12, 1000000, 1000000, 0, 0),
    (43, 1, 31, 11, 'Letter 1.docx', '6c657474657220312e646f6378', '', 0, 54, 1, 5, 'd', 3000000, 11, 3000000, 11, 3000000, 3000000, 0, 0),
    (44, 1, 31, 11, 'Notes.txt', '6e6f7465732e747874', '', 1, 55, 1, 4, 'e', 1000000, 11, 1000000, 11, 1000000, 1000000, 4000000, 12);

INSERT INTO file_versions (id, file_id, number, name, blob_key, size, sha1, created_at, created_by) VALUES
    (51, 41, 1, 'Draft.docx', 'versions/51', 8, 'a', 1000000, 11),
    (52, 41, 2, 'Letter.docx', 'versions/52', 9, 'b', 2000000, 11),
    (53, 42, 1, 'Notes.txt', 'versions/53', 7, 'c', 1000000, 12),
    (54, 43, 1, 'Letter 1.docx', 'versions/54', 5, 'd', 3000000, 11),
    (55, 44, 1, 'Notes.txt', 'versions/55', 4, 'e', 1000000, 11);

INSERT INTO collaborations (id, item_id, user_id, role, created_at, created_by, modified_at) VALUES
    (61, 31, 12, 'editor', 1000000, 11, 2000000),
    (62, 31, 13, 'previewer uploader', 1500000, 12, 1500000),
    (63, 42, 11, 'viewer', 1500000, 12, 1500000);

INSERT INTO docgen_templates (file_id, marked_at, marked_by) VALUES (41, 2000000, 11);

INSERT INTO docgen_tag_readings (version_id, state, problem, contract, findings) VALUES
    (51, 'failed', 'This is no document.', '', ''),
    (52, 'ready', '', '{"type":"object"}', '[]');

INSERT INTO docgen_tags (version_id, position, content, type, json_paths) VALUES
    (52, 1, '{{ name }}', 'text', '["name"]'),
    (52, 2, '{{ sum }}', 'arithmetic', '["sum"]');

INSERT INTO docgen_batches (id, template_file_id, template_version_id, destination_id, output_type, source, created_at, created_by,
                            enterprise_id, application_id, options, shape) VALUES
    ('64528422-fbf4-4f8d-b6a0-b099c6572cf2', 41, 52, 31, 'docx', 'api', 3000000, 11, 1, 2, '', ''),
    ('7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11', 41, 51, 21, 'pdf', 'api', 3000000, 11, 1, 2, '{"locale":"de"}', '{"type":"object"}');

INSERT INTO docgen_jobs (id, batch_id, template_file_id, created_by, file_name, status, attempt, output_file_id, output_version_id,
                         failures, finished_at) VALUES
    (71, '64528422-fbf4-4f8d-b6a0-b099c6572cf2', 41, 11, 'Letter 1.docx', 'completed', 1, 43, 54, '', 3000000),
    (72, '64528422-fbf4-4f8d-b6a0-b099c6572cf2', 41, 11, 'Letter 2.docx', 'failed', 2, 0, 0, '{"errors":["No."],"warnings":[]}', 3000000),
    (73, '7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11', 41, 11, 'Letter 3.pdf', 'pending', 0, 0, 0, '', 0),
    (74, '7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11', 41, 11, 'Letter 4.pdf', 'submitted', 1, 0, 0, '', 0);

INSERT INTO docgen_inputs (job_id, data) VALUES
    (72, '{"name":"Ada"}'),
    (73, '{"name":"Grace"}'),
    (74, '{}');
