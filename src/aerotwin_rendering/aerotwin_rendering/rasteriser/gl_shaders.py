# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shader programs of the OpenGL renderer; the formulas are those of the compiled kernels."""

from aerotwin_rendering.rasteriser.shade_kernels import EDGE, HORIZON_GREY, NADIR_GREY, ZENITH_GREY

VERSION = 430

# Image row 0 is the lowest row of OpenGL's framebuffer: rows need no flip when read.
# z_plane makes the depth buffer linear in inverse depth: 1 at the near plane, 0 at the far one.
VERTEX = """
uniform mat3 R_optical_map;
uniform vec3 camera_high, camera_low;
uniform vec3 x_plane, y_plane;
uniform vec2 z_plane;
in vec3 position;
in vec2 texcoord;
in float brightness;
in int mesh;
out vec2 uv;
out float light;
flat out int mesh_id;
void main() {
    vec3 p = R_optical_map * ((position - camera_high) - camera_low);
    gl_Position = vec4(dot(x_plane, p), dot(y_plane, p), z_plane.x * p.z + z_plane.y, p.z);
    uv = texcoord;
    light = brightness;
    mesh_id = mesh;
}
"""

FRAGMENT = """
uniform sampler2D colours;
uniform float bias;
in vec2 uv;
in float light;
flat in int mesh_id;
void main() {
#ifdef IMAGE
    vec2 size = vec2(textureSize(colours, 0));
    float area = abs(determinant(mat2(dFdx(uv) * size, dFdy(uv) * size)));
    image = vec4(textureLod(colours, uv, 0.5 * log2(max(area, 1e-30)) + bias).rgb * light, 1.0);
#endif
#ifdef DEPTH
    depth = 1.0 / gl_FragCoord.w;
#endif
#ifdef IDS
    id = mesh_id;
#endif
}
"""

SKY_VERTEX = """
void main() {
    // One triangle over the whole picture, at the far plane.
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, -1.0, 1.0);
}
"""

SKY_FRAGMENT = f"""
uniform vec3 up_optical;
uniform vec3 x_of_pixel;
uniform vec2 y_of_pixel;
void main() {{
#ifdef IMAGE
    vec2 pixel = gl_FragCoord.xy - 0.5;
    float y = y_of_pixel.x * pixel.y + y_of_pixel.y;
    vec3 ray = vec3(x_of_pixel.x * pixel.x + x_of_pixel.y * y + x_of_pixel.z, y, 1.0);
    float sine = dot(up_optical, ray) / length(ray);
    float slope = sine >= 0.0 ? {ZENITH_GREY - HORIZON_GREY} : {HORIZON_GREY - NADIR_GREY};
    image = vec4(vec3(floor({HORIZON_GREY} + slope * sine + 0.5) / 255.0), 1.0);
#endif
#ifdef DEPTH
    depth = uintBitsToFloat(0x7F800000u);
#endif
#ifdef IDS
    id = -1;
#endif
}}
"""

# Blend across the edges of shapes: see `shade_kernels._soften_row`.
SOFTEN_FRAGMENT = f"""
uniform sampler2D picture, depths;
uniform vec2 inverse_depth;
float at(ivec2 p) {{ return inverse_depth.x * texelFetch(depths, p, 0).r + inverse_depth.y; }}
vec3 blend(ivec2 p, ivec2 step) {{
    ivec2 last = textureSize(picture, 0) - 1, before = p - step, after = p + step;
    if (before.x < 0 || before.y < 0 || after.x > last.x || after.y > last.y) return vec3(0.0);
    float a = at(before), b = at(p), c = at(after);
    if (abs(a - 2.0 * b + c) <= {EDGE} * max(max(a, b), c)) return vec3(0.0);
    vec3 sides = texelFetch(picture, before, 0).rgb + texelFetch(picture, after, 0).rgb;
    return (sides - 2.0 * texelFetch(picture, p, 0).rgb) / 8.0;
}}
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    vec3 softened = texelFetch(picture, p, 0).rgb + blend(p, ivec2(1, 0)) + blend(p, ivec2(0, 1));
    image = vec4(softened, 1.0);
}}
"""


def with_outputs(source: str, names: tuple[str, ...]) -> str:
    """Return a fragment shader that writes these outputs ("image", "depth", "id")."""
    types = {"image": "vec4", "depth": "float", "id": "int"}
    defines = {"image": "IMAGE", "depth": "DEPTH", "id": "IDS"}
    lines = [f"#version {VERSION}", *(f"#define {defines[name]}" for name in names)]
    lines += [f"layout(location={i}) out {types[n]} {n};" for i, n in enumerate(names)]
    return "\n".join(lines) + source


def vertex_shader(source: str) -> str:
    """Return a vertex shader with its version."""
    return f"#version {VERSION}" + source
